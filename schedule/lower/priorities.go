package lower

import "ovgen/schedule/hostir"

// priorities lowers kernels that pull operands: above the products they delayed the small
// products that they serve.
func priorities(p *hostir.Program) error {
	operands, pulls := map[string]bool{}, map[string]bool{} // buffers, and sets of streams
	hostir.Steps(p.Body, func(s hostir.Step) {
		if x, multiplies := s.Do.(hostir.Product); multiplies {
			operands[x.A.Buffer], operands[x.B.Buffer] = true, true
		}
	})
	hostir.Steps(p.Body, func(s hostir.Step) {
		if x, _ := s.Do.(hostir.Copy); s.By != "" && !x.From.Peer.IsZero() && operands[x.To.Buffer] {
			pulls[s.Stream.Set] = true
		}
	})
	for i := range p.Streams {
		set := &p.Streams[i]
		set.High = set.High && !pulls[set.Name]
	}
	return nil
}
