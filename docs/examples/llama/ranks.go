package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/rpc"
	"slices"
	"time"

	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/runtime/plan"
)

// Crew is all ranks of the decoder.
type Crew struct {
	Ranks []Stepper
	Done  <-chan struct{} // closed when a rank has died
	Close func(ctx context.Context) error
}

// Stepper is a rank of this process or of another one.
type Stepper interface {
	Step(ctx context.Context, rows Batch) ([]Best, error)
}

// Step runs rows on all ranks and returns their next tokens: of equal logits the lowest. Behind an error the crew can
// only be closed.
func (c *Crew) Step(ctx context.Context, rows Batch) (next []Best, err error) {
	all := make([][]Best, len(c.Ranks))
	if err := group.Each(len(c.Ranks), func(r int) (err error) {
		all[r], err = c.Ranks[r].Step(ctx, rows)
		return err
	}); err != nil {
		return nil, err
	}
	for row, best := range all[0] {
		for _, other := range all[1:] {
			if x := other[row]; x.Logit > best.Logit || x.Logit == best.Logit && x.Token < best.Token {
				best = x
			}
		}
		next = append(next, best)
	}
	return next, nil
}

// Spec is which model is decoded on how many ranks.
type Spec struct {
	Model     string // the folder of its checkpoint
	Ranks     int
	Processes bool // a process a rank, instead of a goroutine a rank
	Options
}

// open reads the model's config and its tensors' headers. An error is what keeps ranks from serving the model.
func (s Spec) open() (c Config, t *Tensors, needs plan.Memory, err error) {
	if c, err = ReadConfig(s.Model); err != nil {
		return c, nil, needs, err
	}
	if most := slices.Max(s.Decode); s.Sequences < 1 || s.Sequences > most {
		return c, nil, needs, fmt.Errorf("%d sequences at a time: 1 to %d are served", s.Sequences, most)
	}
	if s.Room < 2 || s.Room > c.Positions {
		return c, nil, needs, fmt.Errorf("room for %d tokens: 2 to %d, which is max_position_embeddings, are served",
			s.Room, c.Positions)
	}
	if needs, err = s.Needs(c, s.Ranks); err == nil {
		t, err = OpenTensors(s.Model)
	}
	return c, t, needs, err
}

// Start joins the ranks and loads the model.
func (s Spec) Start(ctx context.Context) (*Crew, error) {
	c, t, needs, err := s.open()
	if err != nil {
		return nil, err
	}
	defer t.Close()
	log.Printf("each of %d ranks needs, in bytes, %v", s.Ranks, needs)
	if s.Processes {
		return s.startProcesses(ctx)
	}
	groups, err := group.JoinAll(ctx, group.Config{Size: s.Ranks, Arena: needs.Arena()})
	if err != nil {
		return nil, err
	}
	crew := &Crew{Ranks: make([]Stepper, s.Ranks), Done: groups[0].Done()}
	if err = groups.Each(func(g *group.Group) error {
		r, err := NewRank(ctx, g, c, t, s.Options)
		crew.Ranks[g.Rank()] = r
		return err
	}); err != nil {
		return nil, errors.Join(err, groups.Close(ctx))
	}
	crew.Close = func(ctx context.Context) error {
		return group.Each(s.Ranks, func(r int) error { return crew.Ranks[r].(*Rank).Close(ctx) })
	}
	return crew, nil
}

// closeTimeout bounds what processes take to end by themselves.
const closeTimeout = 30 * time.Second

// startProcesses starts copies of this program, which call RankProcess, a rank each, and has them load the model.
func (s Spec) startProcesses(ctx context.Context) (*Crew, error) {
	command := &launch.Command{Ranks: s.Ranks}
	conns, err := command.Connect()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	done, ended := make(chan struct{}), error(nil)
	go func() {
		defer close(done)
		ended = command.Run(ctx)
	}()
	crew := &Crew{Done: done}
	for _, conn := range conns {
		crew.Ranks = append(crew.Ranks, process{rpc.NewClient(conn)})
	}
	crew.Close = func(context.Context) error {
		defer stop()
		for _, r := range crew.Ranks {
			_ = r.(process).Close() // tells the rank to leave
		}
		defer time.AfterFunc(closeTimeout, stop).Stop()
		<-done
		if errors.Is(ended, launch.ErrInterrupted) { // the signal was for this process too
			return nil
		}
		return ended
	}
	if err := group.Each(s.Ranks, func(r int) error {
		return crew.Ranks[r].(process).Call("Rank.Load", s, nil)
	}); err != nil {
		return nil, errors.Join(err, crew.Close(ctx))
	}
	return crew, nil
}

// process is a rank of another process.
type process struct{ *rpc.Client }

// Step is Remote.Step over there.
func (p process) Step(_ context.Context, rows Batch) (best []Best, err error) {
	err = p.Call("Rank.Step", rows, &best)
	return best, err
}

// Remote is a rank as the process that started it calls it.
type Remote struct {
	ctx  context.Context
	rank *Rank
}

// RankProcess is the whole of a process that startProcesses has started; others return at once.
func RankProcess(ctx context.Context) (mine bool, err error) {
	conn, err := launch.Starter()
	if conn == nil {
		return false, err
	}
	server, r := rpc.NewServer(), &Remote{ctx: ctx}
	if err := server.RegisterName("Rank", r); err != nil {
		return true, err
	}
	server.ServeConn(conn) // until the other end closes
	if r.rank == nil {
		return true, nil
	}
	return true, r.rank.Close(context.WithoutCancel(ctx))
}

// Load joins the other ranks and loads the model. It has nothing to reply.
func (r *Remote) Load(s Spec, _ *bool) error {
	c, t, needs, err := s.open()
	if err != nil {
		return err
	}
	defer t.Close()
	g, err := group.Join(r.ctx, group.Config{Arena: needs.Arena()})
	if err != nil {
		return err
	}
	if r.rank, err = NewRank(r.ctx, g, c, t, s.Options); err != nil {
		return errors.Join(err, g.Close(r.ctx))
	}
	return nil
}

// Step is Rank.Step.
func (r *Remote) Step(rows Batch, best *[]Best) (err error) {
	*best, err = r.rank.Step(r.ctx, rows)
	return err
}
