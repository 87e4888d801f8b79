package touch_test

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/touch"
)

// TestAwaits: an early kernel waits ahead of all else, or reads until then where it says so.
func TestAwaits(t *testing.T) {
	const wait = "griddepcontrol.wait;\n"
	for _, c := range []struct {
		name, body       string
		late, ahead, bad bool
	}{
		{name: "waits first", body: "mov.b64 %rd1, k_param_0;\n" + wait + "ld.global.u32 %r1, [%rd1];\n"},
		{name: "waits for a parameter", body: "ld.param.u64 %rd1, [k_param_0];\n" + wait},
		{name: "does not wait", body: "mov.b64 %rd1, k_param_0;\n", bad: true},
		{name: "does not wait, and is not early", body: "ret;\n", late: true},
		{name: "reads first", body: "ld.global.nc.u32 %r1, [%rd1];\n" + wait, bad: true},
		{name: "reads first, anywhere", body: "@%p1 ld.u32 %r1, [%rd1];\n" + wait, bad: true},
		{name: "copies first", body: "cp.async.cg.shared.global [%r1], [%rd1], 16;\n" + wait, bad: true},
		{name: "ends first", body: "@%p1 bra $L__BB0_2;\n" + wait, bad: true},
		{name: "writes first", body: "st.relaxed.sys.u32 [%rd1], %r1;\n" + wait, bad: true},
		{name: "reads ahead", body: "ld.global.u32 %r1, [%rd1];\n@%p1 bra $L;\n" + wait, ahead: true},
		{name: "copies ahead", body: "cp.async.bulk.shared::cluster.global [%r1], [%rd1];\n" +
			"st.shared.u32 [%r1], %r2;\n" + wait, ahead: true},
		{name: "writes ahead", body: "st.global.u32 [%rd1], %r1;\n" + wait, ahead: true, bad: true},
		{name: "copies to memory ahead", body: "cp.async.bulk.global.shared::cta [%rd1], [%r1];\n" + wait, ahead: true,
			bad: true},
		{name: "adds ahead", body: "red.global.add.f32 [%rd1], %f1;\n" + wait, ahead: true, bad: true},
	} {
		text := ".visible .entry other(\n)\n{\n" + wait + "}\n.visible .entry k(\n)\n{\n" + c.body +
			"}\n.visible .entry k2(\n)\n{\n" + wait + "}\n"
		k := driver.Kernel{Name: "k", Early: !c.late, Ahead: c.ahead}
		err := touch.Awaits(&driver.Code{PTX: []byte(text)}, &k)
		if (err != nil) != c.bad || err != nil && !strings.Contains(err.Error(), "kernel k starts early") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	k := driver.Kernel{Name: "none", Early: true}
	head := driver.SourceLine + "12\n" + driver.PTXLine + "34\n"
	for _, c := range []struct {
		code driver.Code
		bad  bool
	}{{driver.Code{}, false}, {driver.Code{Source: "12", PTX: []byte(head)}, false},
		{driver.Code{PTX: []byte(".visible .entry k()\n{\n" + wait + "}\n")}, true}} {
		if err := touch.Awaits(&c.code, &k); (err != nil) != c.bad {
			t.Errorf("%q: %v", c.code.PTX, err)
		}
	}
}
