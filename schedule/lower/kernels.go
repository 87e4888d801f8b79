package lower

import "ovgen/schedule/hostir"

// kernels gives the posts, waits and copies that emitted kernels carry out their kernel.
// Copies within a rank's own memory stay with the copy engine.
func kernels(p *hostir.Program) error {
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		return []hostir.Node{carried(s, p.EdgeOf(s).Carrier)}
	})
	return nil
}

// carried gives a post, a wait or a copy between ranks its kernel, if one carries it out.
func carried(s hostir.Step, c hostir.Carrier) hostir.Step {
	w, signals := s.Signal()
	switch {
	case s.Remote() && c.Copies:
		s.By = hostir.CopyKernel
	case signals && c.Signals && w.Wait:
		s.By = hostir.WaitKernel
	case signals && c.Signals:
		s.By = hostir.PostKernel
	}
	return s
}
