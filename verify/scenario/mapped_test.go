package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/runtime/ipc"
	"ovgen/verify/drivertest"
)

// mappedMemory binds A to memory that several allocations are mapped at, as PyTorch's expandable segments are: across a
// border, elsewhere in the same allocations, and again when one of them is another. It leaves no file open.
func mappedMemory(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		before, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return err
		}
		s, err := drivertest.NewSegment(l.d, 3, 1, driver.FileDescriptor)
		if err == nil {
			err = made(e, g)
		}
		if err != nil {
			return err
		}
		peers, across := g.Size()-1, s.Part(1)-16
		want := ipc.Counters{Messages: 1, Handles: 1, Files: 2, Opens: peers, Closes: peers}
		if e.config.Local {
			want.Files = 0
		}
		for i, x := range []struct {
			what string
			a    driver.Ptr
			want ipc.Counters // Bytes is not compared
		}{
			{"two allocations", across, want},
			{"the same", across, ipc.Counters{}},
			{"another place in them", across - 16, ipc.Counters{Messages: 1, Hits: peers}},
			{"one of them anew", across, want},
			{"memory of cuMemAlloc", l.a.Ptr(), ipc.Counters{Messages: 1, Handles: 1, Opens: peers, Closes: peers}},
		} {
			if i == 3 {
				if err := errors.Join(l.renew(e, s), made(e, g)); err != nil {
					return err
				}
			}
			count := g.Imports().Counters()
			if err := l.bind(e, x.a); err != nil {
				return fmt.Errorf("%s: %w", x.what, err)
			}
			got := since(g, count)
			if got.Bytes = 0; got != x.want {
				return fmt.Errorf("bind to %s: %+v, want %+v", x.what, got, x.want)
			}
			if err := l.right(e, x.a, i); err != nil {
				return fmt.Errorf("%s: %w", x.what, err)
			}
		}
		if err := errors.Join(made(e, g), s.Close(), made(e, g)); err != nil {
			return err
		}
		after, err := os.ReadDir("/proc/self/fd")
		if err == nil && len(after) > len(before) && !e.seeded && !e.config.Local { // else other ranks' are here too
			err = fmt.Errorf("%d files are open, and were %d", len(after), len(before))
		}
		return err
	})
}

// renew puts another allocation in the midst of A, which is bound elsewhere meanwhile.
func (l *layer) renew(e *env, s *drivertest.Segment) error {
	park, err := device.Alloc(l.d, l.a.Bytes())
	if err == nil {
		err = errors.Join(l.bind(e, park.Ptr()), s.Renew(l.d, 1, driver.FileDescriptor), l.bind(e, l.a.Ptr()))
	}
	return errors.Join(err, park.Close())
}

// killedHanding kills rank 1 when it has exported a buffer and its peers come for the files.
func killedHanding(e *env) error {
	if e.rank == 1 {
		var under store.Network = store.Unix()
		if e.config.Network != nil {
			under = e.config.Network
		}
		e.config.Network = deadly{under, e}
	}
	return hanging("killed as it hands files")(e)
}

// bindMapped binds A to mapped memory on all ranks.
func bindMapped(e *env, l *layer) error {
	s, err := drivertest.NewSegment(l.d, 2, 1, driver.FileDescriptor)
	if err != nil {
		return err
	}
	err = l.bind(e, s.Part(1)-16)
	return cmp.Or(err, errors.New("a Bind with a rank that died succeeded"))
}

// deadly is a network on which the rank is killed when one comes for its files.
type deadly struct {
	store.Network
	e *env
}

// Listen is the network's but for names of files.
func (d deadly) Listen(job string) (net.Listener, error) {
	l, err := d.Network.Listen(job)
	if err == nil && strings.Contains(job, "/files/") {
		l = killer{l, d.e}
	}
	return l, err
}

type killer struct {
	net.Listener
	e *env
}

// Accept ends the rank.
func (k killer) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	if err == nil {
		k.e.kill()
		c.Close()
		err = net.ErrClosed
	}
	return c, err
}
