package lower

import "ovgen/schedule/hostir"

// priorities lowers kernels that pull operands: above the products they delayed the small
// products that they serve.
func priorities(p *hostir.Program) error {
	operands, pulls := map[string]bool{}, map[string]bool{} // buffers, and sets of streams
	hostir.Steps(p.Body, func(s hostir.Step) {
		for _, v := range s.Reads {
			operands[v.Buffer] = operands[v.Buffer] || s.Do == hostir.Product
		}
	})
	hostir.Steps(p.Body, func(s hostir.Step) {
		if s.Remote() && s.By != "" && !s.Reads[0].Peer.IsZero() && operands[s.Writes[0].Buffer] {
			pulls[s.Stream.Set] = true
		}
	})
	for i := range p.Streams {
		set := &p.Streams[i]
		set.High = set.High && !pulls[set.Name]
	}
	return nil
}
