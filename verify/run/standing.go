package run

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// standing is the output of layers for one rank: times and bytes.
type standing struct {
	Layers     int    `json:"layers"`
	Operations int    `json:"operations"`
	Buckets    int    `json:"buckets"`
	Ranks      int    `json:"ranks"`
	Driver     string `json:"driver"`
	Rows       []int  `json:"rows"` // of each bucket

	// New: time of each plan's New.
	// First: time of each plan's first Bind, which is collective.
	// Bind: time of a Bind of each layer's weights.
	// Again: time of another such Bind, with the memory of another layer in between.
	New   spread `json:"new_us"`
	First spread `json:"first_bind_us"`
	Bind  spread `json:"bind_us"`
	Again spread `json:"bind_again_us"`
	// Replay: the host's part of each layer's first Replay, which captures the plan's graph.
	// Replayed: the host's part of later replays. Both are of the largest bucket.
	Replay   spread `json:"first_replay_us"`
	Replayed spread `json:"replay_us"`
	// Capture: time of capturing all layers and operations in one graph of the caller, for each bucket.
	// Step: time of a run of that graph, for each bucket.
	Capture spread `json:"capture_us"`
	Step    spread `json:"step_us"`

	Weights     int64 `json:"weights_bytes"`     // of all layers
	Activations int64 `json:"activations_bytes"` // of the memory that the layers share
	Staging     int64 `json:"staging_bytes"`     // of the arena
	Words       int64 `json:"words"`             // of the arena, 4 bytes each
	Workspaces  int64 `json:"workspaces_bytes"`
	Heap        int64 `json:"heap_bytes"` // of Go, by the plans
}

// spread is of several times, in microseconds.
type spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
	Sum    float64 `json:"sum"`
}

func spreadOf(times []time.Duration) (s spread) {
	slices.Sort(times)
	for _, t := range times {
		s.Sum += microseconds(t)
	}
	if s.N = len(times); s.N > 0 {
		s.Median, s.Most = microseconds(times[s.N/2]), microseconds(times[s.N-1])
	}
	return s
}

func microseconds(t time.Duration) float64 { return float64(t) / float64(time.Microsecond) }

// print writes rank 0's figures.
func (x *standing) print(asJSON bool) error {
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(x)
	}
	fmt.Printf("%d layers, %d operations, %d buckets of %d to %d rows: %d plans\n", x.Layers, x.Operations, x.Buckets,
		x.Rows[0], x.Rows[len(x.Rows)-1], x.Operations*x.Buckets)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "us\tn\tmedian\tmost\tsum\t")
	for _, s := range []struct {
		name string
		spread
	}{
		{"New", x.New}, {"first Bind", x.First}, {"Bind, layer by layer", x.Bind}, {"and again", x.Again},
		{"first Replay of a layer", x.Replay}, {"Replay", x.Replayed},
		{"capture of a bucket", x.Capture}, {"its run", x.Step},
	} {
		if s.N > 0 {
			fmt.Fprintf(w, "%s\t%d\t%.1f\t%.1f\t%.0f\t\n", s.name, s.N, s.Median, s.Most, s.Sum)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("weights %s, activations %s, staging %s, %d semaphore words, workspaces %s, Go heap of the plans %s\n",
		mebibytes(x.Weights), mebibytes(x.Activations), mebibytes(x.Staging), x.Words, mebibytes(x.Workspaces),
		mebibytes(x.Heap))
	return nil
}
