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

// task is what a process finds in its environment, as taskVariable.
type task struct {
	Spec
	Socket string
}

const taskVariable = "LLAMA_RANK"

// closeTimeout bounds what processes take to end by themselves.
const closeTimeout = 30 * time.Second

// StartProcesses starts copies of this program, which call RankProcess, a rank each, and returns when all have loaded
// the model. They are called over a socket.
func StartProcesses(ctx context.Context, s Spec) (*Crew, error) {
	_, tensors, _, err := s.open() // what keeps all of them from it is told here
	if err != nil {
		return nil, err
	}
	tensors.Close()
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
	done, ended := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		ended = (&launch.Command{Ranks: s.Ranks, Env: []string{taskVariable + "=" + string(text)}}).Run(ctx)
		listener.Close()
	}()
	crew := &Crew{Done: done}
	crew.Close = func(context.Context) error {
		for _, r := range crew.Ranks {
			_ = r.(client).Close() // tells the rank to leave
		}
		defer time.AfterFunc(closeTimeout, stop).Stop()
		<-done
		stop()
		if errors.Is(ended, launch.ErrInterrupted) { // the signal was for this process too
			return nil
		}
		return ended
	}
	for range s.Ranks {
		conn, err := listener.Accept()
		if err != nil { // a process has ended
			stop()
			<-done
			return nil, fmt.Errorf("start processes: %w", ended)
		}
		crew.Ranks = append(crew.Ranks, client{rpc.NewClient(conn)})
	}
	return crew, nil
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

// client is a rank of another process.
type client struct{ *rpc.Client }

// Step is remote.Step over there.
func (c client) Step(_ context.Context, rows Batch) (best []Best, err error) {
	err = c.Call("Rank.Step", rows, &best)
	return best, err
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
