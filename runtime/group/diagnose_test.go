package group

import (
	"testing"

	"ovgen/runtime/driver"
)

// Plans may have streams of one name and other priorities: the words of the other plans'
// don't count.
func TestBlockedByPriority(t *testing.T) {
	steps := []Step{{Number: 5, Stream: "copy", Wait: true}, {Number: 7, Stream: "copy", Wait: true},
		{Number: 9, Stream: "copy", Wait: true}}
	high, low := &Stream{Name: "copy", Priority: driver.High}, &Stream{Name: "copy", Priority: driver.Low}
	for _, test := range []struct {
		streams []*Stream
		words   []uint32
	}{
		{[]*Stream{high, low}, []uint32{StepValue(3, 7), 0}},
		{[]*Stream{low, high}, []uint32{StepValue(2, 5), StepValue(3, 7)}},
		{[]*Stream{high, low}, []uint32{StepValue(3, 7), StepValue(2, 9)}},
	} {
		p := &pool{streams: test.streams}
		if at, ok := earliest(nexts(steps, 3, p.stepWords(3, test.words))); at.Number != 9 || !at.sure || !ok {
			t.Errorf("%v: step %d, sure %v, found %v: want step 9 for sure", test.words, at.Number, at.sure,
				ok)
		}
	}
}
