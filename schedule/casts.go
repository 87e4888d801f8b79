package schedule

import "fmt"

// Cast says that the function takes elements of one type to another: to or from fp32, which a tensor may have as its
// own element type.
func (f Func) Cast() bool { return f.Do == ApplyFromFP32 || f.Do == ApplyToFP32 }

// castAlone says that casts alone read a tensor, or that one makes it and no other operation reads it.
func (s Schedule) castAlone(t Tensor) bool {
	if t.Within != "" {
		return false
	}
	for _, x := range s.Tensors {
		if x.Within == t.Name {
			return false
		}
	}
	for _, o := range s.Ops {
		for i, name := range o.operands() {
			if name == t.Name && (i > 0 || len(o.Then) == 0 || o.Then[0].Do != ApplyFromFP32) {
				return false
			}
		}
		if last := len(o.Then) - 1; o.Out == t.Name && (last < 0 || o.Then[last].Do != ApplyToFP32) {
			return false
		}
	}
	return true
}

// checkCasts refuses casts that stand elsewhere, or are of tensors of another type.
func (s Schedule) checkCasts(v *validation, path string, o Op) {
	for i, f := range o.Then {
		if !f.Cast() || len(o.In) == 0 {
			continue
		}
		of, there := o.Out, i == len(o.Then)-1 && len(o.In) == 2
		if f.Do == ApplyFromFP32 {
			of, there = o.In[0], i == 0 && len(o.In) == 1
		}
		at := fmt.Sprintf("%s.Then[%d]", path, i)
		if t, _ := s.Tensor(of); !there {
			v.add(at, "put schedule.FromFP32 first in a schedule.Copy, and schedule.ToFP32 last behind a product",
				"%s can't stand there", f.Do)
		} else if t.Type != FP32 {
			v.add(at, "declare "+of+" with Type: schedule.FP32",
				"%s is of a tensor of fp32, and %s has the type of the plan", f.Do, of)
		}
	}
}
