package old

import "ovgen/schedule/hostir"

// byBlocks lets each block of a kernel signal for itself, its part of the work being awaited by
// the blocks of its number at the peers: so no block waits for the others of its launch. Both
// sides of each semaphore then need such kernels, and equal parts on all ranks.
func byBlocks(d *draft) error {
	elsewhere := map[string]bool{} // signalled by steps that can't
	for _, s := range d.program.Semaphores {
		elsewhere[s.Name] = !s.Count.IsZero()
	}
	cut := func(s hostir.Step) bool {
		return (s.Kind().Lands() || d.carriage(s).byBlocks) && inBlocks(s) && !signalsAny(s, elsewhere)
	}
	for again := true; again; {
		again = false
		hostir.Steps(d.program.Body, func(s hostir.Step) {
			if cut(s) {
				return
			}
			for _, w := range s.Words() {
				again = again || !elsewhere[w.Semaphore]
				elsewhere[w.Semaphore] = true
			}
		})
	}
	d.program.Body = hostir.MapSteps(d.program.Body, func(s hostir.Step) []hostir.Node {
		s.ByBlocks = cut(s)
		return []hostir.Node{s}
	})
	return nil
}

// inBlocks says that a step can be cut into the parts of blocks: a row that is added to each row can't.
func inBlocks(s hostir.Step) bool {
	return s.Fused() && len(s.Rows()) == 0
}

// signalsAny says whether a step posts or awaits one of these semaphores.
func signalsAny(s hostir.Step, these map[string]bool) bool {
	for _, w := range s.Words() {
		if these[w.Semaphore] {
			return true
		}
	}
	return false
}
