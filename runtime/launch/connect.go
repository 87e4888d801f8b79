package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"time"
)

// envConnection tells a rank that it has a connection, as the first file beside the standard ones.
const envConnection = "OVGEN_CONNECTION"

// closeTimeout bounds what ranks take to end once their connections are closed.
const closeTimeout = 30 * time.Second

// Job is ranks that run, for a program that tells them what to do.
type Job struct {
	Ranks []*rpc.Client   // call the methods of what each rank gives to Serve, as those of "Rank"
	Done  <-chan struct{} // closed when all ranks have ended

	err  error // of Run
	stop context.CancelFunc
}

// Start starts the ranks as Run does, each with a connection. A rank that ends ends the calls of it.
func (l *Command) Start() (*Job, error) {
	conns, err := l.connect()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	j := &Job{Done: done, stop: stop}
	for _, conn := range conns {
		j.Ranks = append(j.Ranks, rpc.NewClient(conn))
	}
	go func() {
		defer close(done)
		j.err = l.Run(ctx)
	}()
	return j, nil
}

// Close closes the connections, by which ranks learn that they are to end, and waits until they have. After 30 s it
// ends them. The error is that of Run; a signal that was this process's too is none.
func (j *Job) Close() error {
	closeAll(j.Ranks)
	defer j.stop()
	defer time.AfterFunc(closeTimeout, j.stop).Stop()
	<-j.Done
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
		conn, err := net.FileConn(near) // another descriptor of the same end
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
		_ = c.Close() // of connections: there is nothing that it could lose
	}
}

// Serve answers calls of the program that started this rank by Start: the methods of x that net/rpc takes. It returns
// when that program closes the Job, and at once where no such program is, which it reports. The first call serves.
func Serve(x any) (started bool, err error) {
	if os.Getenv(envConnection) == "" {
		return false, nil
	}
	os.Unsetenv(envConnection) // programs that this one starts don't have it
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
