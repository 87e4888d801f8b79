package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
)

// Processes are ranks in a process each, which are called over a socket.
type Processes struct {
	ranks []*rpc.Client // in any order
	done  chan struct{} // closed when a process has ended
	err   error         // with which they ended, once done is closed
	stop  context.CancelFunc
}

// task is what a process finds in its environment, as taskVariable.
type task struct {
	Spec
	Socket string
}

const taskVariable = "LLAMA_RANK"

// StartProcesses starts copies of this program, which call RankProcess, and returns when all have loaded the model.
func StartProcesses(ctx context.Context, s Spec) (*Processes, error) {
	dir, err := os.MkdirTemp("", "llama")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t := task{s, filepath.Join(dir, "ranks")}
	listener, err := net.Listen("unix", t.Socket)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	text, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Processes{done: make(chan struct{}), stop: stop}
	go func() {
		defer close(p.done)
		p.err = (&launch.Command{Ranks: s.Ranks, Env: []string{taskVariable + "=" + string(text)}}).Run(ctx)
		listener.Close()
	}()
	for range s.Ranks {
		c, err := listener.Accept()
		if err != nil { // a process has ended
			stop()
			<-p.done
			return nil, fmt.Errorf("start processes: %w", p.err)
		}
		p.ranks = append(p.ranks, rpc.NewClient(c))
	}
	return p, nil
}

// Step runs the rows on all ranks.
func (p *Processes) Step(_ context.Context, rows Batch) ([]int32, error) {
	return likeliest(len(p.ranks), func(r int) (best []Best, err error) {
		err = p.ranks[r].Call("Rank.Step", rows, &best)
		return best, err
	})
}

// Done is closed when a process has ended.
func (p *Processes) Done() <-chan struct{} { return p.done }

// closeTimeout bounds what ranks take to end by themselves.
const closeTimeout = 30 * time.Second

// Close ends the processes: by themselves where they can.
func (p *Processes) Close(context.Context) error {
	for _, r := range p.ranks {
		_ = r.Close() // tells the rank to leave
	}
	defer time.AfterFunc(closeTimeout, p.stop).Stop()
	<-p.done
	p.stop()
	if errors.Is(p.err, launch.ErrInterrupted) { // the signal was for this process too
		return nil
	}
	return p.err
}

// RankProcess is the whole of a process that StartProcesses has started; others return at once.
func RankProcess(ctx context.Context) (mine bool, err error) {
	text, mine := os.LookupEnv(taskVariable)
	if !mine {
		return false, nil
	}
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return true, fmt.Errorf("read %s: %w", taskVariable, err)
	}
	return true, t.serve(ctx)
}

func (t task) serve(ctx context.Context) error {
	c, tensors, needs, err := t.open()
	if err != nil {
		return err
	}
	defer tensors.Close()
	g, err := group.Join(ctx, group.Config{Arena: needs.Arena})
	if err != nil {
		return err
	}
	r, err := NewRank(ctx, g, c, tensors, t.Options)
	if err != nil {
		return errors.Join(err, g.Close(ctx))
	}
	conn, err := net.Dial("unix", t.Socket)
	if err == nil {
		server := rpc.NewServer()
		err = server.RegisterName("Rank", &remote{ctx, r})
		server.ServeConn(conn) // until the other end closes
	}
	return errors.Join(err, r.Close(context.WithoutCancel(ctx)))
}

// remote is a rank as the socket has it.
type remote struct {
	ctx  context.Context
	rank *Rank
}

// Step is Rank.Step.
func (r *remote) Step(rows Batch, best *[]Best) (err error) {
	*best, err = r.rank.Step(r.ctx, rows)
	return err
}
