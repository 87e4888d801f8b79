package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"sync"
)

// envConnection tells a rank that its file 3 is a connection to the program that started it.
const envConnection = "OVGEN_CONNECTION"

// Job is a set of running ranks, with a connection to each.
type Job struct {
	Ranks []*rpc.Client   // by rank; the service is named "Rank", with the methods of Serve's argument
	Done  <-chan struct{} // closed when a rank has ended

	over chan struct{} // closed when all ranks have ended
	err  error         // of Run
	stop context.CancelCauseFunc
}

// Start starts the ranks as Run does, each with a connection. Calls of a rank that ends return an error.
func (l *Command) Start() (*Job, error) {
	conns, err := l.connect()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	l.ended = sync.OnceFunc(func() { close(done) })
	j := &Job{Done: done, over: make(chan struct{}), stop: stop}
	for _, conn := range conns {
		j.Ranks = append(j.Ranks, rpc.NewClient(conn))
	}
	go func() {
		defer close(j.over)
		defer l.ended() // also if no rank has started
		j.err = l.Run(ctx)
	}()
	return j, nil
}

// Close closes the connections, so that Serve returns on all ranks, and waits until all ranks have ended. When ctx
// ends, it ends the ranks, as Run does. It returns Run's error, or nil if a signal to this process ended the ranks.
func (j *Job) Close(ctx context.Context) error {
	closeAll(j.Ranks)
	end := func() { j.stop(fmt.Errorf("the ranks have not ended by themselves: %w", ctx.Err())) }
	defer context.AfterFunc(ctx, end)()
	<-j.over
	j.stop(nil)
	if errors.Is(j.err, ErrInterrupted) {
		return nil
	}
	return j.err
}

// connect makes a connection to each rank that the next Run starts.
func (l *Command) connect() (ranks []net.Conn, err error) {
	for r := range l.Ranks {
		near, far, err := socketPair()
		if err != nil {
			l.disconnect()
			closeAll(ranks)
			return nil, fmt.Errorf("connect to rank %d: %w", r, err)
		}
		l.far = append(l.far, far)
		conn, err := net.FileConn(near) // it copies the descriptor
		near.Close()
		if err != nil {
			l.disconnect()
			closeAll(ranks)
			return nil, fmt.Errorf("connect to rank %d: %w", r, err)
		}
		ranks = append(ranks, conn)
	}
	return ranks, nil
}

// disconnect closes this process's copies of the ranks' ends.
func (l *Command) disconnect() {
	closeAll(l.far)
	l.far = nil
}

func closeAll[C interface{ Close() error }](list []C) {
	for _, c := range list {
		_ = c.Close() // a connection has no data to lose
	}
}

// Serve answers calls from the program that started this process by Start: calls of the methods of x that net/rpc
// accepts. It returns when that program closes the Job. In a process that was not started by Start, it returns at once
// with started false; so does a second call.
func Serve(x any) (started bool, err error) {
	if os.Getenv(envConnection) == "" {
		return false, nil
	}
	os.Unsetenv(envConnection) // this program's children do not inherit the file
	f := os.NewFile(3, "connection")
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return true, fmt.Errorf("find the connection to the starter: %w", err)
	}
	server := rpc.NewServer()
	if err := server.RegisterName("Rank", x); err != nil {
		return true, fmt.Errorf("serve the starter: %w", err)
	}
	server.ServeConn(conn)
	return true, nil
}
