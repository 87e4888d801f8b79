package old

import "ovgen/schedule/hostir"

// priorities lowers kernels that pull operands: above the products they delayed the small
// products that they serve.
func priorities(d *draft) error {
	operands, pulls := map[string]bool{}, map[string]bool{} // buffers, and sets of streams
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		if x, multiplies := s.Do.(hostir.Product); multiplies {
			operands[x.A.Buffer], operands[x.B.Buffer] = true, true
		}
	})
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		if x, _ := s.Do.(hostir.Copy); s.By != "" && !x.From.Peer.IsZero() && operands[x.To.Buffer] {
			pulls[s.Stream.Set] = true
		}
	})
	for i := range d.program.Streams {
		set := &d.program.Streams[i]
		set.High = set.High && !pulls[set.Name]
	}
	return nil
}
