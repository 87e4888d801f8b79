package schedule

import "strconv"

// staged is the default number of compute streams where owners pull partial results: each
// has a staging buffer, and while one is read the next is written.
const staged = 2

// WithDefaults returns the schedule with each choice left open filled in. A default
// follows from the placements and from the choices that were made.
func (s Schedule) WithDefaults() Schedule {
	p := &s.Pipeline
	fill(&p.Kind, s.kind())
	fill(&p.Order, Shift)
	fill(&p.Direction, Forward)
	if p.Kind == Collective && p.Chunks == 0 {
		p.Chunks = s.chunks()
	}
	if s.Reduces() {
		s.reduced()
	}
	if p.Kind == Broadcast && s.Op != Copy {
		fill(&p.Protocol, Put)
	}
	fill(&p.Protocol, Get)
	fill(&p.Own, First)
	fill(&p.OwnShard, InPlace)
	fill(&p.Signals, Batched)
	fill(&p.Products, PerShard)
	fill(&p.Reduction, AtEnd)
	fill(&s.Transport.Copy, CopyEngine)
	fill(&s.Transport.Signal, StreamMemOp)
	fill(&s.Transport.Steps, Separate)
	fill(&s.Streams.Priority, Equal)
	fill(&s.Streams.Copy, Apart)
	fill(&s.Streams.Start, Hoisted)
	fill(&s.Streams.Handles, Hoisted)
	if len(s.Types) == 0 {
		s.Types = []Type{BF16, FP16, FP32}
	}
	return s
}

// reduced fills in what has another default where partial results are summed.
func (s *Schedule) reduced() {
	p := &s.Pipeline
	if p.Order == Ring {
		fill(&p.Protocol, Get)
		fill(&p.Reduction, InKernel)
	}
	if p.Reduction == InSlot {
		fill(&p.Own, First)
	}
	fill(&p.Own, Last)
	fill(&p.Protocol, Put)
	if s.Streams.Compute == 0 && p.Protocol == Get && s.steps() && s.scatters() {
		s.Streams.Compute = staged
	}
	if s.Streams.Compute == 0 && p.Protocol == Put && s.steps() {
		fill(&s.Streams.Priority, Falling)
	}
}

// steps says that each step is a product whose partial result goes to one peer.
func (s Schedule) steps() bool {
	return s.Op != Sum && s.Pipeline.Kind == PointToPoint && s.Pipeline.Order == Shift
}

// scatters says that a product's partial sums go to the one rank that owns the rows.
func (s Schedule) scatters() bool {
	c, _ := s.Tensor("C")
	_, _, spread := c.Sharded()
	return spread && (s.Op == Linear || s.Op == Matmul)
}

// kind is the one that the placements leave, or the fastest of several.
func (s Schedule) kind() PipelineKind {
	a, _ := s.Tensor("A")
	c, _ := s.Tensor("C")
	axis, split, spread := c.Sharded()
	switch {
	case s.Op == Copy && a.Root:
		return Broadcast
	case s.Op == Sum && !spread:
		return TwoShot
	case s.Op == Sum && c.Axes[axis].Outer[split].Uneven:
		return OneShot
	case s.chunks() > 0:
		return Collective
	}
	return PointToPoint
}

// chunks is the number of steps that C is cut into, zero where it is not a constant.
func (s Schedule) chunks() int {
	c, _ := s.Tensor("C")
	axis, split, ok := c.Streamed()
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(string(c.Axes[axis].Outer[split].Count))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

func fill[T ~string](choice *T, to T) {
	if *choice == "" {
		*choice = to
	}
}
