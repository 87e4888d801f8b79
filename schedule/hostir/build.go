package hostir

import (
	"slices"
	"strings"
)

// MainStream is the stream on which the caller enqueues a run.
const MainStream = "main"

// Stream is the only stream of its set.
func Stream(set string) StreamRef { return StreamRef{Set: set} }

// StreamAt is one stream of a set.
func StreamAt(set string, index Expr) StreamRef { return StreamRef{Set: set, Index: index} }

// Whole is all of a buffer.
func Whole(buffer string) View { return View{Buffer: buffer} }

// Chunk is one chunk of a buffer.
func Chunk(buffer string, index Expr) View { return View{Buffer: buffer, Index: index} }

// Columns is one part of a buffer's columns.
func Columns(buffer string, part Expr) View { return View{Buffer: buffer, Index: part, Columns: true} }

// Chunks is count chunks of a buffer, from chunk first on.
func Chunks(buffer string, first, count Expr) View {
	return View{Buffer: buffer, Index: first, Count: count}
}

// Remote is one chunk of a peer's buffer.
func Remote(buffer string, peer, index Expr) View { return Chunk(buffer, index).At(peer) }

// At is the view in a peer's buffer.
func (v View) At(peer Expr) View { v.Peer = peer; return v }

// Over is the view for each value of an index, from one value up to, not including, another.
func (v View) Over(index string, from, to Expr) View {
	v.Each = Range{Index: index, From: from, To: to}
	return v
}

// RankIndex is the index over a sum's terms in the order of ranks.
const RankIndex = "q"

// EachRank is the view for each rank of the mesh, in their order; the index is RankIndex.
func (v View) EachRank() View { return v.Over(RankIndex, Const(0), Size) }

// Ahead is the rank i places further on.
func Ahead(i Expr) Expr { return Mod(Add(Rank, i), Size) }

// Behind is the rank i places back.
func Behind(i Expr) Expr { return Mod(Sub(Add(Rank, Size), i), Size) }

// Onwards is a number of ranks, from 0 on, by which parts move on round the ring as by a number below 0 too.
func Onwards(n int) Expr {
	if n < 0 {
		return Mod(Mul(Const(int64(-n)), Sub(Size, Const(1))), Size)
	}
	return Mod(Const(int64(n)), Size)
}

// Bind names a value.
func Bind(name string, value Expr) Let { return Let{Name: name, Value: value} }

// Loop is a loop over an index.
func Loop(index string, from, to Expr, body ...Node) For {
	return For{Index: index, From: from, To: to, Body: body}
}

// Every is the absent peer of a post or a wait: it stands for all peers.
var Every Expr

// Post posts to a peer, or to every peer where the peer is absent.
func Post(s StreamRef, semaphore string, to Expr) Step {
	return Step{Stream: s, Post: []Word{{Semaphore: semaphore, Peer: to}}}
}

// Wait waits for the post of a peer, or of every peer where the peer is absent, and resets.
func Wait(s StreamRef, semaphore string, from Expr) Step {
	return Step{Stream: s, Pre: []Word{{Wait: true, Semaphore: semaphore, Peer: from}}}
}

// Together is a collective of all ranks, or of the ranks of a rail.
func Together(s StreamRef, do Kind, dst, src View) Step {
	return Step{Stream: s, Do: Collective{Does: do, From: src, To: dst}, By: NCCL}
}

// Exchanged sends src to one rank of the rail and gets dst from another.
func Exchanged(s StreamRef, dst, src View, to, from Expr) Step {
	return Step{Stream: s, Do: Collective{Does: Exchange, From: src, To: dst, Target: to, Source: from}, By: NCCL}
}

// After makes a stream wait for others.
func After(s StreamRef, others ...StreamRef) Synchronize {
	return Synchronize{Streams: []StreamRef{s}, On: others}
}

// Forked makes streams wait for the caller's, and Joined makes that wait for others at the end.
func Forked(streams ...StreamRef) Synchronize {
	return Synchronize{Origin: Origin{Field: ForksField}, Streams: streams, On: []StreamRef{Stream(MainStream)}}
}

func Joined(streams ...StreamRef) Synchronize {
	n := After(Stream(MainStream), streams...)
	n.Remark = "join"
	return n
}

// Described is the step with a remark for its readers.
func (s Step) Described(remark string) Step { s.Remark = remark; return s }

// Remarked gives a node that is a step a remark.
func Remarked(n Node, remark string) Node {
	if s, ok := n.(Step); ok {
		return s.Described(remark)
	}
	return n
}

// AskedBy is the step with the field of the schedule that asks for it.
func (s Step) AskedBy(field string) Step { s.Origin.Field = field; return s }

// Applying is the step with further functions that it applies.
func (s Step) Applying(list []Function) Step {
	s.Applies = append(slices.Clone(s.Applies), list...)
	return s
}

// MovesOf returns the nodes with their steps assigned to the move of a tensor.
func MovesOf(tensor string, nodes ...Node) []Node {
	return ChangeSteps(nodes, func(s Step) Step { s.MoveOf = tensor; return s })
}

// Member is the step with another member of its semaphores.
func (s Step) Member(index Expr) Step {
	return s.With(Parts{Word: func(w Word) Word { w.Index = index; return w }}).(Step)
}

// Accumulated is the product that adds to its result.
func (s Step) Accumulated() Step { return Changed(s, func(x *Product) { x.Accumulate = true }) }

// Then is the product with a function of each element.
func (s Step) Then(function string) Step { return Changed(s, func(x *Product) { x.Func = function }) }

// Into is the product, or the sum, with another result.
func (s Step) Into(to View) Step {
	s = Changed(s, func(x *Product) { x.To = to })
	return Changed(s, func(x *Sum) { x.To = to })
}

// Fuse joins steps of one stream into one launch of a kernel: signals, one piece of work, and signals. It has the
// remarks of all steps.
func Fuse(kernel string, steps ...Step) Step {
	f := Step{Origin: steps[0].Origin, Stream: steps[0].Stream}
	var remarks []string
	for _, s := range steps {
		if s.Remark != "" {
			remarks = append(remarks, s.Remark)
		}
		switch {
		case s.Do != Nothing:
			f.Applies = s.Applies
			s.Origin, s.Pre = f.Origin, append(f.Pre, s.Pre...)
			f = s
		case f.Do == Nothing:
			f.Pre = append(f.Pre, s.Words()...)
		default:
			f.Post = append(f.Post, s.Words()...)
		}
	}
	f.By, f.Remark = kernel, strings.Join(remarks, "; ")
	return f
}
