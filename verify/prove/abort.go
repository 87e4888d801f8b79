package prove

import "fmt"

// drains: an abort sets every word of the plan to 1 again and again, so every wait must be for 1. Then no wait holds a
// stream. Only streams and events order the other operations, and the edges of streams and events have no circle.
func (p *proof) drains() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			for _, w := range o.Words {
				if !w.Write && (w.Value != 1 || !p.model.semaphore(w.At.Buffer)) {
					return p.against(Abort, p.find(r, i), -1,
						fmt.Sprintf("%s: an abort sets the words of semaphores to 1, which does not end this wait", w),
						"wait for a semaphore's word to be 1")
				}
			}
		}
	}
	return nil
}
