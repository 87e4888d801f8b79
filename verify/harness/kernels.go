package harness

import (
	"cmp"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/reading"
	"ovgen/verify/reference"
	"ovgen/verify/touch"
)

// The device code of generated/run has three kernels, each with one by-value parameter
// struct laid out as the Go struct here. Threads stride over the elements: thread t of T
// takes t, t+T, t+2T, ... A launch with Count 0 (the zero struct) does nothing.

// fillParams: the element of a tensor with index First + placed(i) goes to At[i],
// where placed(i) = i/Run*Stride + i%Run.
//
//	x = hash(Seed, First + placed(i))      // uint32, see reference.Hash
//	integers: (x >> 8) < Limit ? ((x & 1) ? Size : -Size) : 0
//	Real:     float(x >> 8) / 2^23 - 1     // exact in fp32, rounded to the type
//	Row:      times 1 << hash(Seed+1, (First + placed(i)) / Row) % 3
//	Add:      that plus At[i]
//
// hash(seed, index), all in uint64:
//
//	x = index*0x9E3779B97F4A7C15 + seed*0xD1B54A32D192ED03
//	x ^= x >> 32;  x *= 0xD6E8FEB86659FD93
//	x ^= x >> 32;  x *= 0xD6E8FEB86659FD93
//	x ^= x >> 32;  return (uint32)x
type fillParams struct {
	At          driver.Ptr
	First       int64 // index of At[0] in the whole
	Count       int64 // elements
	Run, Stride int64
	Seed        uint32
	Limit       uint32 // of 1<<24: how many elements are not zero
	Format      uint32 // of elements: formatOf
	Real        uint32 // 1: uniform in [-1, 1)
	Size        float32
	Add         uint32 // 1: to the previous content
	Row         int64  // elements of a row; 0: none is larger than others
}

// compareParams: Got[i] against Want[placed(i)], value by value as == does (a NaN
// equals nothing). Thread t of the launch writes its verdict to Out[t], always when
// Count > 0.
type compareParams struct {
	Got, Want   driver.Ptr
	Out         driver.Ptr // verdict, one a thread of the launch
	Count       int64
	Run, Stride int64
	Format      uint32
	_           uint32
}

// verdict of one thread: its first element that differs (-1: none), how many
// differ, and the largest |Want| it saw.
type verdict struct {
	First   int64
	Differ  uint32
	Largest float32
}

// spinParams keeps one thread busy for a number of nanoseconds of the
// device's clock (%globaltimer; the host's monotonic clock in the simulator).
type spinParams struct {
	Nanoseconds int64
}

// The kernels by name.
const (
	kernelFill    = "fill"
	kernelCompare = "compare"
	kernelSpin    = "spin"
)

// CheckKernels are the kernels of generated/run, for its driver.Code.
func CheckKernels() []driver.Kernel {
	return []driver.Kernel{
		{Name: kernelFill, Params: int(unsafe.Sizeof(fillParams{})), Row: touch.Func(fillTouches)},
		{Name: kernelCompare, Params: int(unsafe.Sizeof(compareParams{})), Row: touch.Func(compareTouches)},
		{Name: kernelSpin, Params: int(unsafe.Sizeof(spinParams{})), Row: touch.Func(spinTouches)},
	}
}

func fillTouches(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
	p := (*fillParams)(params)
	return append(to, touch.Touch{Kind: touch.Write, At: p.At, Bytes: bytesOf(p.Count, p.Format)})
}

// compareTouches does not know how many verdicts a launch writes: it lists the first verdict for all of them.
func compareTouches(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
	p := (*compareParams)(params)
	return append(to,
		touch.Touch{Kind: touch.Read, At: p.Got, Bytes: bytesOf(p.Count, p.Format)},
		touch.Touch{Kind: touch.Read, At: p.Want, Bytes: bytesOf(p.Count, p.Format)},
		touch.Touch{Kind: touch.Write, At: p.Out, Bytes: int64(unsafe.Sizeof(verdict{}))})
}

func spinTouches(_ unsafe.Pointer, to []touch.Touch) []touch.Touch { return to }

// bytesOf is the number of bytes of that many elements.
func bytesOf(count int64, format uint32) int64 {
	return count * int64(format&0xff+format>>8&0xff) / 8
}

// formatOf is a type's format in the form that kernels take: the bits of the exponent; in the second byte the digits of
// the significand; and above them whether the type has no infinities, and whether it has no NaN.
func formatOf(t driver.Type) uint32 {
	f := uint32(t.Exponent() | t.Digits()<<8)
	if t.Finite() {
		f |= 1 << 16
	}
	if !t.NaN() {
		f |= 2 << 16
	}
	return f
}

// Kernels are the loaded kernels of generated/run.
type Kernels struct {
	drv                 driver.Driver
	module              driver.Module
	fill, compare, spin driver.Function
}

// LoadKernels loads the kernels.
func LoadKernels(d driver.Driver, code *driver.Code) (*Kernels, error) {
	m, err := d.ModuleLoadData(code)
	if err != nil {
		return nil, fmt.Errorf("load the kernels of %s: %w", code.Name, err)
	}
	l := &Kernels{drv: d, module: m}
	for name, to := range map[string]*driver.Function{kernelFill: &l.fill, kernelCompare: &l.compare,
		kernelSpin: &l.spin} {
		if *to, err = d.ModuleGetFunction(m, name); err != nil {
			return nil, errors.Join(fmt.Errorf("load kernel %s: %w", name, err), d.ModuleUnload(m))
		}
	}
	return l, nil
}

// Close unloads the kernels.
func (l *Kernels) Close() error { return l.drv.ModuleUnload(l.module) }

// Launches have a thread for every 64 elements, up to a full device.
const (
	blockThreads = 128
	mostBlocks   = 2048
)

func blocks(count int) driver.Dim3 {
	n := (count + 64*blockThreads - 1) / (64 * blockThreads)
	return driver.Dim3{X: uint32(min(max(n, 1), mostBlocks)), Y: 1, Z: 1}
}

var block = driver.Dim3{X: blockThreads, Y: 1, Z: 1}

// Make fills at with a part of a tensor.
func (l *Kernels) Make(at driver.Ptr, t driver.Type, in reference.Input, part reading.Part, s driver.Stream) error {
	if in.Scales { // a few elements, which no kernel makes
		return errors.Join(l.drv.StreamSynchronize(s), l.drv.MemcpyHtoD(at, encoded(t, in, part)))
	}
	return l.launchFill(at, t, in, part, 0, s)
}

// add adds a part of a tensor to the content of at.
func (l *Kernels) add(at driver.Ptr, t driver.Type, in reference.Input, part reading.Part, s driver.Stream) error {
	return l.launchFill(at, t, in, part, 1, s)
}

func (l *Kernels) launchFill(at driver.Ptr, t driver.Type, in reference.Input, part reading.Part, add uint32,
	s driver.Stream) error {
	p := fillParams{Seed: in.Seed, Limit: in.Limit, Format: formatOf(t), Size: cmp.Or(in.Size, 1), Add: add,
		Row: int64(in.Row)}
	if in.Real {
		p.Real = 1
	}
	for _, x := range part.Pieces {
		p.At, p.First, p.Count, p.Run, p.Stride = at, int64(x.First), int64(x.Count), int64(x.Run), int64(x.Stride)
		if err := l.drv.LaunchKernel(l.fill, blocks(x.Count), block, s, unsafe.Pointer(&p)); err != nil {
			return fmt.Errorf("fill %d elements: %w", x.Count, err)
		}
		at += driver.Ptr(t.Bytes(x.Count))
	}
	return nil
}

// verdictBytes is the size of the verdicts on count elements.
func verdictBytes(count int) int64 {
	return int64(blocks(count).X) * blockThreads * int64(unsafe.Sizeof(verdict{}))
}

// judge compares a piece of a part with its place in a whole tensor. The verdicts may be read once the stream has done
// it.
func (l *Kernels) judge(got, whole, out driver.Ptr, t driver.Type, x reading.Piece, s driver.Stream) error {
	p := compareParams{Got: got, Want: whole + driver.Ptr(t.Bytes(x.First)), Out: out,
		Count: int64(x.Count), Run: int64(x.Run), Stride: int64(x.Stride), Format: formatOf(t)}
	if err := l.drv.LaunchKernel(l.compare, blocks(x.Count), block, s, unsafe.Pointer(&p)); err != nil {
		return fmt.Errorf("compare %d elements: %w", x.Count, err)
	}
	return nil
}

// verdict reads the result of judge, with the first element that differs, -1 if none does.
func (l *Kernels) verdict(out driver.Ptr, count int) (v verdict, err error) {
	raw := make([]byte, verdictBytes(count))
	if err := l.drv.MemcpyDtoH(raw, out); err != nil {
		return v, fmt.Errorf("read the comparison: %w", err)
	}
	v.First = -1
	for _, x := range unsafe.Slice((*verdict)(unsafe.Pointer(&raw[0])), len(raw)/int(unsafe.Sizeof(v))) {
		if x.First >= 0 && (v.First < 0 || x.First < v.First) {
			v.First = x.First
		}
		v.Differ += x.Differ
		v.Largest = max(v.Largest, x.Largest)
	}
	return v, nil
}

// SpinFor keeps a stream busy.
func (l *Kernels) SpinFor(s driver.Stream, d time.Duration) error {
	p := spinParams{Nanoseconds: int64(d)}
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	if err := l.drv.LaunchKernel(l.spin, one, one, s, unsafe.Pointer(&p)); err != nil {
		return fmt.Errorf("spin %v: %w", d, err)
	}
	return nil
}
