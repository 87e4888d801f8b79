package old

import "ovgen/schedule/hostir"

// kernels gives the posts, waits and copies that emitted kernels carry out their kernel.
// Copies within a rank's own memory stay with the copy engine.
func kernels(d *draft) error {
	d.program.Body = hostir.MapSteps(d.program.Body, func(s hostir.Step) []hostir.Node {
		return []hostir.Node{d.carriage(s).carry(s)}
	})
	return nil
}

// carry gives a post, a wait or a copy between ranks its kernel, if one carries it out.
func (c carriage) carry(s hostir.Step) hostir.Step {
	w, signals := s.Signal()
	switch {
	case s.Remote() && c.copies:
		s.By = hostir.CopyKernel
	case signals && c.signals && w.Wait:
		s.By = hostir.WaitKernel
	case signals && c.signals:
		s.By = hostir.PostKernel
	}
	return s
}
