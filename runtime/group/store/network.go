package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Network connects the ranks of a job.
type Network interface {
	// Listen is called by rank 0. An error wraps unix.EADDRINUSE where another process already listens for the job.
	Listen(job string) (net.Listener, error)
	// Dial connects to rank 0. An error wraps unix.ECONNREFUSED where rank 0 does not listen yet.
	Dial(ctx context.Context, job string) (net.Conn, error)
}

// Unix is the network of one machine: an abstract Unix socket named from user and job, so nothing lies in the file
// system and jobs don't meet. Each end checks the other end's user, since any process may use any abstract name.
func Unix() Network { return sockets{uid: os.Geteuid(), peer: os.Geteuid()} }

// sockets listens under the name of user uid and talks to processes of user peer; the two differ only in tests.
type sockets struct{ uid, peer int }

func (s sockets) name(job string) string { return fmt.Sprintf("@ovgen/%d/%s", s.uid, job) }

// Listen binds the job's abstract name.
func (s sockets) Listen(job string) (net.Listener, error) {
	l, err := net.Listen("unix", s.name(job))
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, peer: s.peer}, nil
}

// Dial connects to the job's abstract name.
func (s sockets) Dial(ctx context.Context, job string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", s.name(job))
	if err != nil {
		return nil, err
	}
	if err := sameUser(c, s.peer); err != nil {
		c.Close()
		return nil, fmt.Errorf("dial %s: %w", s.name(job), err)
	}
	return c, nil
}

// listener drops connections of other users before a byte is read.
type listener struct {
	net.Listener
	peer int
}

// Accept waits for a connection of the right user.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if sameUser(c, l.peer) == nil {
			return c, nil
		}
		c.Close()
	}
}

// Memory is a network inside this process, for ranks that are goroutines. All
// its waiting is on channels, so it serves in a testing/synctest bubble.
func Memory() Network { return &memory{jobs: map[string]*inbox{}} }

type memory struct {
	mu   sync.Mutex
	jobs map[string]*inbox
}

// inbox is a listener whose connections are net.Pipe halves.
type inbox struct {
	net   *memory
	job   string
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen makes job known to Dial.
func (m *memory) Listen(job string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs[job] != nil {
		return nil, fmt.Errorf("listen for job %q: %w", job, unix.EADDRINUSE)
	}
	in := &inbox{net: m, job: job, conns: make(chan net.Conn), done: make(chan struct{})}
	m.jobs[job] = in
	return in, nil
}

// Dial hands one half of a pipe to the listener.
func (m *memory) Dial(ctx context.Context, job string) (net.Conn, error) {
	m.mu.Lock()
	in := m.jobs[job]
	m.mu.Unlock()
	if in == nil {
		return nil, fmt.Errorf("dial job %q: %w", job, unix.ECONNREFUSED)
	}
	mine, theirs := net.Pipe()
	select {
	case in.conns <- theirs:
		return mine, nil
	case <-in.done:
	case <-ctx.Done():
	}
	return nil, errors.Join(fmt.Errorf("dial job %q: %w", job, unix.ECONNREFUSED), mine.Close(), theirs.Close())
}

// Accept waits for a Dial.
func (in *inbox) Accept() (net.Conn, error) {
	select {
	case c := <-in.conns:
		return c, nil
	case <-in.done:
		return nil, net.ErrClosed
	}
}

// Close forgets the job.
func (in *inbox) Close() error {
	in.once.Do(func() {
		in.net.mu.Lock()
		delete(in.net.jobs, in.job)
		in.net.mu.Unlock()
		close(in.done)
	})
	return nil
}

// Addr is the job's name.
func (in *inbox) Addr() net.Addr { return &net.UnixAddr{Name: in.job, Net: "memory"} }
