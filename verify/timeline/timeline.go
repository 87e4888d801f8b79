package timeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Span is one operation on a stream of a rank, in microseconds.
type Span struct {
	Rank   int     `json:"rank"`
	Stream string  `json:"stream"` // main, copy, work[1]
	Name   string  `json:"name"`
	Kind   Kind    `json:"kind"`
	Start  float64 `json:"start"`
	End    float64 `json:"end"`
}

// Kind says how a span is drawn.
type Kind string

// Kinds of span.
const (
	Product Kind = "product"
	Copy    Kind = "copy"
	Sum     Kind = "sum"
	Wait    Kind = "wait"
	Post    Kind = "post"
	Other   Kind = "other"
)

// track is one stream of one rank.
type track struct {
	rank   int
	stream string
}

// tracks are the tracks of the spans, by rank; main is the first of a rank.
func tracks(spans []Span) []track {
	seen := map[track]bool{}
	var list []track
	for _, s := range spans {
		if t := (track{s.Rank, s.Stream}); !seen[t] {
			seen[t] = true
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b track) int {
		order := func(t track) int {
			if t.stream == "main" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(order(a), order(b)),
			cmp.Compare(a.stream, b.stream))
	})
	return list
}

// event is an entry of the Chrome trace format: X a complete event, M a name.
type event struct {
	Name     string            `json:"name"`
	Phase    string            `json:"ph"`
	Category string            `json:"cat,omitempty"`
	At       float64           `json:"ts"`
	Duration float64           `json:"dur,omitempty"`
	Process  int               `json:"pid"`
	Thread   int               `json:"tid"`
	Args     map[string]string `json:"args,omitempty"`
}

// Perfetto writes the spans with a process for each rank and a track for each of its
// streams.
func Perfetto(w io.Writer, spans []Span) error {
	number := map[track]int{}
	var events []event
	for i, t := range tracks(spans) {
		number[t] = i
		events = append(events,
			event{Name: "process_name", Phase: "M", Process: t.rank, Thread: i,
				Args: map[string]string{"name": fmt.Sprintf("rank %d", t.rank)}},
			event{Name: "thread_name", Phase: "M", Process: t.rank, Thread: i,
				Args: map[string]string{"name": t.stream}})
	}
	for _, s := range spans {
		events = append(events,
			event{Name: s.Name, Phase: "X", Category: string(s.Kind), At: s.Start,
				Duration: s.End - s.Start,
				Process:  s.Rank, Thread: number[track{s.Rank, s.Stream}]})
	}
	text, err := json.MarshalIndent(map[string]any{"displayTimeUnit": "ns", "traceEvents": events}, "", " ")
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write a trace: %w", err)
	}
	return nil
}
