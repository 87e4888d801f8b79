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
	if d.placed() || d.schedule.Streams.Copy != schedule.Apart || d.schedule.Streams.Start != schedule.Hoisted {
		return nil
	}
	d.loop(func(l hostir.For) []hostir.Node {
		copies, products := l, l
		copies.Body, products.Body = nil, nil
		for _, n := range l.Body {
			switch n.(type) {
			case hostir.Let, hostir.Select:
				copies.Body = append(copies.Body, n)
				products.Body = append(products.Body, n)
			case hostir.Matmul, hostir.Linear:
				products.Body = append(products.Body, n)
			default:
				copies.Body = append(copies.Body, n)
			}
		}
		return []hostir.Node{copies, products}
	})
	return nil
}
