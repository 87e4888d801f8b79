package plan

import (
	"context"
	"fmt"
)

// maxReport bounds the error text that a rank hands to its peers.
const maxReport = 2 << 10

// agree is a collective step that fails on all ranks or on none: each rank sends its payload or its error. It returns
// every rank's payload, or this rank's error, or a *RankError of the first rank that has an error.
func (p *Plan) agree(ctx context.Context, what string, mine []byte, failed error) ([][]byte, error) {
	blob := append([]byte{0}, mine...)
	if failed != nil {
		text := failed.Error()
		blob = append([]byte{1}, text[:min(len(text), maxReport)]...)
	}
	all, err := p.group.Gather(ctx, what, blob)
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	for r, b := range all {
		if len(b) == 0 || b[0] > 1 {
			return nil, fmt.Errorf("%s: rank %d sent %d bytes that are no answer (run the same binary on all ranks)",
				what, r, len(b))
		}
		if b[0] == 1 {
			return nil, &RankError{Rank: r, Text: string(b[1:])}
		}
		all[r] = b[1:]
	}
	return all, nil
}
