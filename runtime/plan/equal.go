package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Ranks that share no file of algorithms may tune a product to different algorithms, which round differently. So the
// first rank that has a product decides its algorithm: a result that every rank computes whole then has the same bits
// on all ranks.

// algorithms returns the algorithm of each of the plan's products.
func (p *Plan) algorithms() map[string]string {
	of := map[string]string{}
	for _, m := range p.products {
		if m.handle != 0 {
			of[fmt.Sprint(m.desc)] = p.driver.MatmulAlgorithm(m.handle)
		}
	}
	return of
}

// equal remakes products by the algorithms of the first ranks, from the algorithms that all ranks have sent. If all
// ranks have the same algorithms, it does nothing.
func (p *Plan) equal(ctx context.Context, all [][]byte) error {
	first, differ := map[string]string{}, false
	for _, b := range slices.Backward(all) { // a rank's algorithms replace those of later ranks
		if err := json.Unmarshal(b, &first); err != nil {
			return fmt.Errorf("compare algorithms: %w (run the same binary on all ranks)", err)
		}
		differ = differ || !bytes.Equal(b, all[0])
	}
	if !differ {
		return nil
	}
	var failed error
	for _, m := range p.products {
		a := first[fmt.Sprint(m.desc)]
		if failed != nil || m.handle == 0 || a == p.driver.MatmulAlgorithm(m.handle) {
			continue
		}
		own := m.handle
		if m.handle, failed = p.driver.MatmulBy(m.desc, a); failed == nil {
			failed = p.driver.MatmulDestroy(own)
			continue
		}
		m.handle = own
		failed = fmt.Errorf("multiply %+v as other ranks do: %w (give all ranks devices of one kind)", m.desc, failed)
	}
	_, err := p.agree(ctx, fmt.Sprintf("make plan %d by equal algorithms", p.id), nil, failed)
	return err
}
