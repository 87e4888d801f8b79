package lower

import "ovgen/schedule/hostir"

// fewRows gives the products that a kernel makes, where they are of few rows, that kernel. It refuses a schedule that
// asks for it and has none.
func fewRows(p *hostir.Program) error {
	if !p.Schedule.FewRows {
		return nil
	}
	made := false
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if x, multiplies := s.Do.(hostir.Product); multiplies && x.Kernel() == hostir.FewRowsKernel {
			s.By, made = hostir.FewRowsKernel, true
		}
		return []hostir.Node{s}
	})
	if !made {
		return refused("FewRows", "leave it out", "no product of own rows and a weight has its result stored as it is")
	}
	return nil
}
