package lower

import "ovgen/schedule/hostir"

// kernels gives the posts, waits and copies that emitted kernels carry out their kernel.
// Copies within a rank's own memory stay with the copy engine.
func kernels(d *draft) error {
	d.program.Body = hostir.MapSteps(d.program.Body, func(s hostir.Step) []hostir.Node {
		c := d.carriage(s)
		w, signals := s.Signal()
		switch {
		case s.Remote() && c.copies:
			s.By = hostir.CopyKernel
		case signals && c.signals && w.Wait:
			s.By = hostir.WaitKernel
		case signals && c.signals:
			s.By = hostir.PostKernel
		}
		return []hostir.Node{s}
	})
	return nil
}

// carriage of a step: the partial results of two layers have one of their own.
func (d *draft) carriage(s hostir.Step) carriage {
	if len(d.comm.legs()) > 1 && leaves(s) {
		return d.with.leaving
	}
	return d.with.carriage
}

// leaves says that a step puts a partial result into a slot, or signals for it.
func leaves(s hostir.Step) bool {
	w, signals := s.Signal()
	return signals && (w.Semaphore == free || w.Semaphore == arrived) || s.Remote() && s.Writes[0].Buffer == slots
}
