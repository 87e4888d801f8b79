package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// order enqueues all copies ahead of the products that they start, by splitting the
// loop in two. Streams run the same either way; but a product takes the host some
// microseconds to enqueue, which the next copy would wait for, and a captured graph
// launches its nodes in the order of capture.
func order(d *draft) error {
	c := d.schedule
	if d.placed || c.Streams.Start != schedule.Hoisted || c.Streams.Copy != schedule.Apart && c.Pipeline.Signals != schedule.Batched {
		return nil
	}
	d.loop(func(l hostir.For) []hostir.Node {
		copies, products := l, l
		copies.Body, products.Body = nil, nil
		multiplied := false
		for _, n := range l.Body {
			switch n.(type) {
			case hostir.Let, hostir.Select:
				copies.Body = append(copies.Body, n)
				products.Body = append(products.Body, n)
				continue
			}
			if multiplied = multiplied || isProduct(n); multiplied {
				products.Body = append(products.Body, n)
			} else {
				copies.Body = append(copies.Body, n)
			}
		}
		if len(products.Body) == 0 { // a loop of forks
			return []hostir.Node{copies}
		}
		return []hostir.Node{copies, products}
	})
	return nil
}
