package prove

import (
	"fmt"

	"ovgen/verify/ops"
)

// signals: a Signal's words are words of a semaphore, or the step word of the Signal's stream. A word is posted by
// writing 1, or awaited and reset in one batch. A rank waits only for words in its memory.
func (p *proof) signals() *Counterexample {
	for r, list := range p.lists {
		for i, o := range list {
			for j := range o.Words {
				if wrong := p.misused(r, o, j); wrong != "" {
					return p.against(Signals, p.find(r, i), -1, wrong,
						"post by a write of 1 into the peer's memory; wait for 1 and write 0 in one batch")
				}
			}
		}
	}
	return nil
}

// misused says why word j of a Signal is wrong.
func (p *proof) misused(rank int, o ops.Op, j int) string {
	w := o.Words[j]
	at := w.At
	if at.Rank < 0 || at.Rank >= len(p.lists) {
		return fmt.Sprintf("%s: there is no rank %d", w, at.Rank)
	}
	if ops.OfStream(at) {
		if at.Buffer != ops.StepWord(o.Stream) || at.Rank != rank || at.Offset != 0 || !w.Write {
			return fmt.Sprintf("%s: it is not a note in the stream's own step word", w)
		}
		return ""
	}
	resets := w.Write && w.Value == 0
	waited := j > 0 && !o.Words[j-1].Write && o.Words[j-1].At == at
	switch {
	case !p.model.semaphore(at.Buffer):
		return fmt.Sprintf("%s: the program has no semaphore %s", w, at.Buffer)
	case at.Offset < 0 || at.Offset%4 != 0 || at.Offset >= 4*int64(len(p.lists))*p.model.members(at.Buffer):
		return fmt.Sprintf("%s: %s has %d words", w, at.Buffer, int64(len(p.lists))*p.model.members(at.Buffer))
	case !w.Write && at.Rank != rank:
		return fmt.Sprintf("%s: a rank waits in its own memory only", w)
	case w.Write && w.Value > 1:
		return fmt.Sprintf("%s: a word is 0 or 1", w)
	case resets && !waited:
		return fmt.Sprintf("%s: a reset that no wait of the batch comes before", w)
	}
	return ""
}
