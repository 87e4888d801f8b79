package tuning

import (
	_ "embed" // for the tables
	"slices"
	"sync"
)

// Measurements of `run tune` on GPUs joined by NVLink, in bf16: on two H200s (docs/results/2026-11-23-tune-2.txt,
// 2026-11-23-tune-large-2.txt, 2026-11-23-tune-block-2.txt, and 2026-11-28-tune-block-2.txt, which has tiles), on two
// and on four H100s (2026-11-27-tune-2.txt, 2026-11-27-tune-4.txt and 2026-11-27-tune-4-twoshot.txt; blocks by tiles
// are bench/block's, 2026-11-27-block-4.txt, and that of 4096 rows on H200s, 2026-11-30-block-2.txt). Layers of eight
// bits were measured by bench/eight.py (2026-11-29-scaled-2.txt) and by `run bench`
// (2026-11-29-quantised-packets-2.txt), and products of few rows by `run tune` (2026-11-30-tune-few-2.txt, to which a
// test holds them). AllReduceNorm was measured by bench/norm.py (2026-11-29-norm-2.txt, 2026-11-27-norm-2.txt and
// 2026-11-27-norm-4.txt).
var (
	//go:embed h200.json
	h200 []byte
	//go:embed h100.json
	h100 []byte
)

// ownTuning serves programs that pass no table.
var ownTuning = sync.OnceValues(func() (*Table, error) {
	own := &Table{}
	for _, text := range [][]byte{h200, h100} {
		t, err := Parse(text)
		if err != nil {
			return nil, err
		}
		own.Entries = append(own.Entries, t.Entries...)
	}
	return own, nil
})

// among returns the entries whose programs are among the options.
func (t *Table) among(options []option) *Table {
	known := &Table{}
	for _, m := range t.Entries {
		if slices.ContainsFunc(options, func(o option) bool { return o.Name == m.Program }) {
			known.Entries = append(known.Entries, m)
		}
	}
	return known
}
