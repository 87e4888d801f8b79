package old

import "ovgen/schedule/hostir"

// priorities lowers kernels that pull operands: above the products they delayed the small
// products that they serve.
func priorities(d *draft) error {
	operands, pulls := map[string]bool{}, map[string]bool{} // buffers, and sets of streams
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		for _, v := range s.Reads {
			operands[v.Buffer] = operands[v.Buffer] || s.Do == hostir.Product
		}
	})
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		if s.Remote() && s.By != "" && !s.Reads[0].Peer.IsZero() && operands[s.Writes[0].Buffer] {
			pulls[s.Stream.Set] = true
		}
	})
	for i := range d.program.Streams {
		set := &d.program.Streams[i]
		set.High = set.High && !pulls[set.Name]
	}
	return nil
}
