package sim_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// windowed makes communicators of two ranks with a window each, after a collective.
func windowed(t *testing.T, w *sim.World) (list []*member, at []driver.Ptr) {
	t.Helper()
	list = members(t, w, 2)
	for _, m := range list {
		must(t, m.call(driver.CollectiveDesc{Kind: driver.AllGather, Bytes: 8}))
	}
	for _, m := range list {
		must(t, m.StreamSynchronize(m.s))
		p, err := m.WindowMemAlloc(4096)
		must(t, err)
		must(t, m.CommWindowRegister(m.comm, p, 4096))
		if state, err := m.CommWindow(m.comm); err != nil || state.Made {
			t.Errorf("%+v before it is made, %v", state, err)
		}
		must(t, m.settle())
		state, err := m.CommWindow(m.comm)
		if err != nil || !state.Made || !state.Asked || !state.Symmetric {
			t.Errorf("%+v, %v", state, err)
		}
		at = append(at, p)
	}
	return list, at
}

// TestWindows: collectives within the window are right; where the buffers of two ranks lie at different places both
// fail, and say where, but in an exchange of parts, which has no symmetric kernel.
func TestWindows(t *testing.T) {
	for _, x := range []struct {
		name string
		kind driver.CollectiveKind
		off  driver.Ptr // of rank 1's receive buffer
		want string
	}{
		{"alike", driver.AllGather, 512, ""},
		{"another place", driver.AllGather, 528,
			"rank 0's buffers lie at offset 0 and offset 512, rank 1's at offset 0 and offset 528"},
		{"another place of a sum", driver.AllReduce, 528, "rank 1's at offset 0 and offset 528"},
		{"elsewhere", driver.AllGather, 4096, "rank 1's at offset 0 and no place of the window"},
		{"all-to-all", driver.AllToAll, 528, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
				list, at := windowed(t, w)
				for r, m := range list {
					m.recv = at[r] + 512
					if m.send = at[r]; r == 1 {
						m.recv = at[r] + x.off
					}
					must(t, m.MemcpyHtoD(m.send, []byte{byte(r + 1), 0, 0, 0, byte(r + 1), 0, 0, 0}))
				}
				for _, m := range list {
					must(t, m.call(driver.CollectiveDesc{Kind: x.kind, Bytes: 4, Type: driver.FP32}))
				}
				for _, m := range list {
					err := m.StreamSynchronize(m.s)
					if x.want == "" {
						must(t, err)
						got := make([]byte, 8)
						must(t, m.MemcpyDtoH(got, m.recv))
						if !bytes.Equal(got, []byte{1, 0, 0, 0, 2, 0, 0, 0}) {
							t.Errorf("got %v", got)
						}
					}
				}
				if x.want == "" {
					noRaces(t, w)
					return
				}
				err := list[0].CtxSynchronize()
				if err == nil || !strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
			})
		})
	}
}

// TestWindowsRefused: a window before a collective, a second one, one of other memory, and what ends in a wrong order.
func TestWindowsRefused(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		list := members(t, w, 2)
		m := list[0]
		p, err := m.WindowMemAlloc(4096)
		must(t, err)
		for _, m := range list {
			must(t, m.settle())
		}
		wants(t, "before a collective", m.CommWindowRegister(m.comm, p, 4096), 5)
		wants(t, "deregister none", m.CommWindowDeregister(m.comm), 5)
		list, at := windowed(t, w)
		m = list[0]
		wants(t, "a second one", m.CommWindowRegister(m.comm, at[0], 4096), 5)
		wants(t, "free within", m.WindowMemFree(at[0]+64), 4)
		wants(t, "no communicator", m.CommWindowRegister(1, at[0], 4096), 4)
		must(t, m.CommWindowDeregister(m.comm))
		must(t, m.StreamBeginCapture(m.s))
		wants(t, "in a capture", m.CommWindowRegister(m.comm, at[0], 4096), 5)
		graph, err := m.StreamEndCapture(m.s)
		must(t, errors.Join(err, m.GraphDestroy(graph)))
		plain, err := m.MemAlloc(4096)
		must(t, err)
		wants(t, "memory of cuMemAlloc", m.CommWindowRegister(m.comm, plain, 4096), 4)
		wants(t, "more than there is", m.CommWindowRegister(m.comm, at[0], 1<<30), 4)
		must(t, m.WindowMemFree(at[0]))
		wants(t, "free twice", m.WindowMemFree(at[0]), 4)
	})
}
