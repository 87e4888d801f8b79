package tuning

import (
	_ "embed" // for h200.json
	"slices"
	"sync"
)

// h200 has the measurements of `run tune` on two H200s joined by NVLink, in bf16
// (docs/results/2026-11-23-tune-2.txt, 2026-11-23-tune-large-2.txt and 2026-11-23-tune-block-2.txt).
//
//go:embed h200.json
var h200 []byte

// ownTuning serves where a program has no tuning of its own.
var ownTuning = sync.OnceValues(func() (*Table, error) { return Parse(h200) })

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
