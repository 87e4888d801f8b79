package cost

import (
	"fmt"

	"ovgen/verify/ops"
)

// apart lists the operations with a separate stream for each part of a launch whose parts run side by side. The parts
// begin when the operations before the launch have ended, and later operations wait for all parts. A part copies with
// as many blocks as a get.
func apart(list []ops.Op) []ops.Op {
	events := 0
	for _, o := range list {
		if o.Kind == ops.Record {
			events = max(events, o.Event+1)
		}
	}
	var out []ops.Op
	var parts []string // streams of the parts
	mark := func(o ops.Op, on, waits string) {
		out = append(out, ops.Op{Kind: ops.Record, Stream: on, Event: events, Step: o.Step, Node: o.Node, Part: o.Part},
			ops.Op{Kind: ops.WaitEvent, Stream: waits, Event: events, Step: o.Step, Node: o.Node, Part: o.Part})
		events++
	}
	for _, o := range list {
		main := o.Stream
		if o.Part > 0 {
			o.Stream = fmt.Sprintf("%s part %d", main, o.Part)
			if len(parts) < o.Part {
				parts = append(parts, o.Stream)
				mark(o, main, o.Stream)
			}
			o.Kernel = "get"
		} else {
			for _, s := range parts {
				mark(ops.Op{Step: o.Step, Node: o.Node, Part: 1}, s, main)
			}
			parts = nil
		}
		out = append(out, o)
	}
	return out
}
