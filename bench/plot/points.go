package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// row is one figure in the output of both benches.
type row struct {
	Point   string  `json:"point"` // of the peers alone
	Program string  `json:"program"`
	Variant string  `json:"variant"`
	Type    string  `json:"type"`
	Gated   bool    `json:"gated"`
	M       int     `json:"m"`
	K       int     `json:"k"`
	N       int     `json:"n"`
	Ranks   int     `json:"ranks"`
	Ms      float64 `json:"ms"`
	Error   string  `json:"error"`
}

// Programs that are not ours.
const (
	torch   = "torch" // the product of the whole A
	nccl    = "nccl"
	symmMem = "symm_mem"
)

// models of the grid: the width of a layer's input and that in between.
var models = []struct {
	name string
	h, f int
}{{"8B", 4096, 14336}, {"70B", 8192, 28672}, {"405B", 16384, 53248}, {"GPT-3", 12288, 49152}}

// place is a point of the grid.
type place struct {
	model, layer string
	m            int
}

// point is the measured times at a place, in ms.
type point struct {
	place
	ranks int
	pure  float64
	// best has the fastest form of each program, such as eager, replayed or captured.
	best map[string]figure
}

type figure struct {
	ms      float64
	variant string
}

// read returns the lines of a file that are JSON; headings between them are skipped.
func read(name string) ([]row, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read figures: %w", err)
	}
	var rows []row
	number := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		number++
		line := bytes.TrimSpace(lines.Bytes())
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read figures: %s:%d: %w", name, number, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// DDLB's point has the same shape for both layers.
const (
	ddlb           = "DDLB"
	ddlbK, ddlbN   = 16384, 8192
	scattersInName = "reducescatter"
)

// placeOf is the place that a row names, else the place of its shape.
func placeOf(r row) (place, bool) {
	if parts := strings.Split(r.Point, "/"); len(parts) == 3 {
		return place{parts[0], parts[1], r.M}, true
	}
	for _, m := range models {
		switch {
		case r.Ranks > 0 && r.K == m.h && r.N == m.f/r.Ranks:
			return place{m.name, "fc1", r.M}, true
		case r.K == m.f && r.N == m.h:
			return place{m.name, "fc2", r.M}, true
		}
	}
	switch {
	case r.K != ddlbK || r.N != ddlbN:
		return place{}, false
	case strings.Contains(r.Program, scattersInName):
		return place{ddlb, "fc2", r.M}, true
	}
	return place{ddlb, "fc1", r.M}, true
}

// collect sorts rows by place. Among lines of the same program, variant and place the
// fastest counts.
func collect(rows []row, typ string, gated bool) []*point {
	type key struct {
		place
		program, variant string
	}
	fastest := map[key]row{}
	for _, r := range rows {
		if at, ok := placeOf(r); ok && r.Error == "" && r.Ms > 0 && r.Type == typ && r.Gated == gated {
			k := key{at, r.Program, r.Variant}
			if old, had := fastest[k]; !had || r.Ms < old.Ms {
				fastest[k] = r
			}
		}
	}
	at := map[place]*point{}
	for k, r := range fastest {
		p := at[k.place]
		if p == nil {
			p = &point{place: k.place, best: map[string]figure{}}
			at[k.place] = p
		}
		p.ranks = r.Ranks
		p.add(r)
	}
	var list []*point
	for _, p := range at {
		if p.pure > 0 {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *point) int {
		return cmp.Or(cmp.Compare(order(a.model), order(b.model)), cmp.Compare(a.layer, b.layer), cmp.Compare(a.m, b.m))
	})
	return list
}

func order(model string) int {
	for i, m := range models {
		if m.name == model {
			return i
		}
	}
	return len(models)
}

// add takes a figure into account.
func (p *point) add(r row) {
	switch r.Variant {
	case "pure":
		if p.pure == 0 || r.Ms < p.pure {
			p.pure = r.Ms
		}
	case "chunks", "copies": // parts of the work
	default:
		old, had := p.best[r.Program]
		if !had || r.Ms < old.ms || r.Ms == old.ms && r.Variant < old.variant {
			p.best[r.Program] = figure{r.Ms, r.Variant}
		}
	}
}

// ours is the fastest of our programs.
func (p *point) ours() (program string, f figure, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(p.best)) {
		if name == torch || name == nccl || name == symmMem {
			continue
		}
		if !ok || p.best[name].ms < f.ms {
			program, f, ok = name, p.best[name], true
		}
	}
	return program, f, ok
}
