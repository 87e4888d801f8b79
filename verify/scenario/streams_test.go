package scenario

import (
	"errors"
	"fmt"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// slots are inputs and results of several runs, copied to and from a layer.
type slots struct {
	*layer
	in, out []*device.Buffer
	junk    *device.Buffer // half of it is copied to the other to make a stream late
}

func newSlots(e *env, l *layer, n int) (*slots, error) {
	s := &slots{layer: l}
	var err error
	junk := int64(8 << 10)
	if e.onGPU {
		junk = 64 << 20 // 0.1 ms
	}
	if s.junk, err = device.Alloc(l.d, junk); err != nil {
		return nil, err
	}
	for i := range n {
		in, err := device.Alloc(l.d, l.a.Bytes())
		if err != nil {
			return nil, err
		}
		out, err := device.Alloc(l.d, l.c.Bytes())
		if err != nil {
			return nil, err
		}
		s.in, s.out = append(s.in, in), append(s.out, out)
		if err := l.put(in.Ptr(), i); err != nil {
			return nil, err
		}
	}
	return s, made(e, l.g)
}

func (s *slots) close() error {
	errs := []error{s.junk.Close()}
	for i := range s.in {
		errs = append(errs, s.in[i].Close(), s.out[i].Close())
	}
	return errors.Join(errs...)
}

// bring enqueues a slow writer of A, and take a reader of C.
func (s *slots) bring(i int, on driver.Stream, slow bool) error {
	var late error
	if slow {
		late = s.d.MemcpyDtoDAsync(s.junk.Ptr(), s.junk.Ptr()+driver.Ptr(s.junk.Bytes()/2), s.junk.Bytes()/2,
			on)
	}
	return errors.Join(late, s.d.MemcpyDtoDAsync(s.a.Ptr(), s.in[i].Ptr(), s.a.Bytes(), on))
}

func (s *slots) take(i int, on driver.Stream) error {
	return s.d.MemcpyDtoDAsync(s.out[i].Ptr(), s.c.Ptr(), s.c.Bytes(), on)
}

func (s *slots) checkAll() error {
	for i := range s.out {
		if err := s.check(s.out[i].Ptr(), i); err != nil {
			return err
		}
	}
	return nil
}

// afterTheCaller runs on one stream, then two plans each on a stream of its
// own, in turn, without a word from the host in between.
func afterTheCaller(e *env) error {
	return e.with("", func(g *group.Group, first *layer) (err error) {
		second, err := newLayer(e, e.of, g, e.of.shape(g.Size()))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, second.free(e)) }()
		var both [2]*slots
		var streams [2]driver.Stream
		for i, l := range []*layer{first, second} {
			if both[i], err = newSlots(e, l, 6); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, both[i].close()) }()
			if streams[i], err = g.Driver().StreamCreateWithPriority(driver.Normal); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, g.Driver().StreamDestroy(streams[i])) }()
		}
		for i := range 6 {
			for k, s := range both {
				launch := s.Enqueue
				if i%3 == 2 {
					launch = s.Replay
				}
				late := e.own.IntN(2) == 0
				if err := errors.Join(s.bring(i, streams[k], late), launch(streams[k]),
					s.take(i, streams[k])); err != nil {
					return fmt.Errorf("run %d of plan %d: %w", i, k, err)
				}
			}
		}
		for k, s := range both {
			if err := errors.Join(g.Driver().StreamSynchronize(streams[k]), g.Err(),
				s.checkAll()); err != nil {
				return fmt.Errorf("plan %d: %w", k, err)
			}
		}
		return nil
	})
}

// turningStreams gives one plan to two streams in turn; the caller orders its
// own copies by an event, and the plan's runs order themselves.
func turningStreams(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		s, err := newSlots(e, l, 6)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		var streams [2]*device.Stream
		for i := range streams {
			if streams[i], err = device.NewStream(l.d, driver.Normal); err != nil {
				return err
			}
			defer streams[i].Close()
		}
		taken, err := device.NewEvent(l.d, false)
		if err != nil {
			return err
		}
		defer taken.Close()
		for i := range s.in {
			on := streams[i%2]
			if err := errors.Join(on.Wait(taken), s.bring(i, on.Handle(), i%2 == 0), l.Enqueue(on.Handle()),
				s.take(i, on.Handle()), taken.Record(on)); err != nil {
				return err
			}
		}
		return errors.Join(taken.Synchronize(), g.Err(), s.checkAll())
	})
}

// callersGraph captures copies and a run in a graph of the caller, and mixes its
// replays with eager runs and the plan's own.
func callersGraph(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		s, err := newSlots(e, l, 1)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.close()) }()
		stream, err := device.NewStream(l.d, driver.Normal)
		if err != nil {
			return err
		}
		defer stream.Close()
		graph, err := device.Capture(l.d, stream.Handle(), func() error {
			return errors.Join(s.bring(0, stream.Handle(), true), l.Enqueue(stream.Handle()),
				s.take(0, stream.Handle()))
		})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, graph.Close()) }()
		for i := range 8 {
			if err := s.put(s.in[0].Ptr(), i); err != nil {
				return err
			}
			switch i % 3 {
			case 0:
				err = graph.Launch(stream.Handle())
			case 1:
				err = errors.Join(s.bring(0, stream.Handle(), false), l.Enqueue(stream.Handle()),
					s.take(0, stream.Handle()))
			default:
				err = errors.Join(s.bring(0, stream.Handle(), false), stream.Synchronize(), l.Run(e),
					s.take(0, stream.Handle()))
			}
			if err := errors.Join(err, stream.Synchronize(), g.Err(),
				s.check(s.out[0].Ptr(), i)); err != nil {
				return fmt.Errorf("run %d: %w", i, err)
			}
		}
		return nil
	})
}
