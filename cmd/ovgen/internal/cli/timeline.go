package cli

import (
	"errors"
	"fmt"
	"os"

	"ovgen/cmd/ovgen/internal/explain"
	"ovgen/schedule/hostir"
	"ovgen/verify/cost"
	"ovgen/verify/ops"
	"ovgen/verify/timeline"
)

// timeline draws a prediction in the file of -timeline.
func (c *call) timeline(title string, p *hostir.Program, drawn *cost.Prediction) (err error) {
	spans, err := labelled(p, drawn)
	if err != nil {
		return err
	}
	f, err := os.Create(c.path(c.price.timeline))
	if err != nil {
		return fmt.Errorf("draw a timeline: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return timeline.SVG(f, timeline.Panel{Title: title, Spans: spans})
}

// kinds of the spans that are drawn.
var kinds = map[ops.Kind]timeline.Kind{ops.Product: timeline.Product, ops.Copy: timeline.Copy,
	ops.Collective: timeline.Copy, ops.Sum: timeline.Sum, ops.Apply: timeline.Sum,
	ops.Call:      timeline.Sum,
	ops.WaitEvent: timeline.Wait}

// place identifies an operation in a prediction; operations that one kernel carries out have the same place.
type place struct {
	rank, step int
	kind       ops.Kind
}

// labelled gives the spans of a prediction the labels of their operations.
func labelled(p *hostir.Program, drawn *cost.Prediction) ([]timeline.Span, error) {
	x := drawn.Case
	of := map[place][]ops.Op{}
	for r := range x.Ranks {
		list, err := ops.Unroll(p, x.At(r))
		if err != nil {
			return nil, fmt.Errorf("draw a timeline: %w", err)
		}
		for _, o := range list {
			at := place{r, o.Step, o.Kind}
			of[at] = append(of[at], o)
		}
	}
	var spans []timeline.Span
	for _, s := range drawn.Spans {
		at := place{s.Rank, s.Step, s.Kind}
		if s.Kind == ops.After || s.Kind == ops.Done || s.Kind == ops.Record || len(of[at]) == 0 {
			continue
		}
		o := of[at][0]
		of[at] = of[at][1:]
		kind := kinds[s.Kind]
		if s.Kind == ops.Signal {
			kind = timeline.Post
			for _, w := range o.Words {
				if !w.Write {
					kind = timeline.Wait
				}
			}
		}
		spans = append(spans, timeline.Span{Rank: s.Rank, Stream: s.Stream, Name: explain.Label(p, s.Rank, o),
			Kind: kind, Start: s.Start, End: s.End})
	}
	return spans, nil
}
