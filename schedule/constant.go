package schedule

import "slices"

// checkConstant refuses Constant on a tensor that runs write, or whose memory another tensor shares.
func (s Schedule) checkConstant(v *validation, path string, t Tensor) {
	shares := slices.ContainsFunc(s.Tensors, func(x Tensor) bool { return x.Within == t.Name })
	if t.Constant && (s.Made(t.Name) || t.Within != "" || shares) {
		v.add(path+".Constant", "leave it out", "runs write %s, or what lies in its place", t.Name)
	}
}
