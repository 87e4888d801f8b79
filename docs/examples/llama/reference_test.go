package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// reference is the decoder in float64, a token at a time, by the plain formulas and nothing of the program's.
type reference struct {
	c       Config
	w       map[string]Array
	keys    [][][]float64 // by layer and position
	values  [][][]float64
	written int
	parts   int // of the rows that products of layers read, each with a scale and eight bits; 0: they are not rounded
	block   int // columns of such a row that have a scale; 0: those of a part
}

func newReference(c Config, w map[string]Array) *reference {
	return &reference{c: c, w: w, keys: make([][][]float64, c.Layers), values: make([][][]float64, c.Layers)}
}

// next is the logits behind one more token.
func (m *reference) next(token int) []float64 {
	x := make([]float64, m.c.Hidden)
	grows := 1.0
	if m.gemma() {
		grows = math.Sqrt(float64(len(x)))
	}
	for i := range x {
		x[i] = grows * float64(m.w["model.embed_tokens.weight"].Data[token*len(x)+i])
	}
	for l := range m.c.Layers {
		at := fmt.Sprintf("model.layers.%d.", l)
		y := m.norm(x, at+"input_layernorm.weight")
		q, k, v := m.times(at+"self_attn.q_proj.weight", y), m.times(at+"self_attn.k_proj.weight", y),
			m.times(at+"self_attn.v_proj.weight", y)
		m.normHeads(q, at+"self_attn.q_norm.weight")
		m.normHeads(k, at+"self_attn.k_norm.weight")
		m.turn(q, l)
		m.turn(k, l)
		m.keys[l], m.values[l] = append(m.keys[l], k), append(m.values[l], v)
		made, before := m.times(at+"self_attn.o_proj.weight", m.attend(l, q)), at+"post_attention_layernorm.weight"
		if m.gemma() {
			made, before = m.norm(made, before), at+"pre_feedforward_layernorm.weight"
		}
		for i, o := range made {
			x[i] += o
		}
		y = m.norm(x, before)
		gate, up := m.times(at+"mlp.gate_proj.weight", y), m.times(at+"mlp.up_proj.weight", y)
		for i, g := range gate {
			gate[i] = g / (1 + math.Exp(-g)) * up[i]
			if m.gemma() {
				gate[i] = g / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(g+.044715*g*g*g))) * up[i]
			}
		}
		made = m.times(at+"mlp.down_proj.weight", gate)
		if m.gemma() {
			made = m.norm(made, at+"post_feedforward_layernorm.weight")
		}
		for i, o := range made {
			x[i] += o
		}
	}
	m.written++
	head := "lm_head.weight"
	if m.c.Tied {
		head = "model.embed_tokens.weight"
	}
	logits := m.times(head, m.norm(x, "model.norm.weight"))
	for i := range logits {
		logits[i] = capped(logits[i], m.c.LogitCap)
	}
	return logits
}

// gemma says that norms are by 1 + their weights, what a layer makes is normed before it is added, and the rest that
// Gemma has.
func (m *reference) gemma() bool { return strings.HasPrefix(m.c.Family, "gemma") }

// capped is x, within most where there is one.
func capped(x float64, most *float64) float64 {
	if most == nil {
		return x
	}
	return *most * math.Tanh(x / *most)
}

func (m *reference) norm(x []float64, weight string) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	y := make([]float64, len(x))
	for i, v := range x {
		w := float64(m.w[weight].Data[i])
		if m.gemma() {
			w++
		}
		y[i] = v / math.Sqrt(sum/float64(len(x))+m.c.Epsilon) * w
	}
	return y
}

// normHeads norms each head, where the model has a weight for it.
func (m *reference) normHeads(x []float64, weight string) {
	if _, has := m.w[weight]; has {
		for h := 0; h < len(x); h += m.c.HeadSize {
			copy(x[h:], m.norm(x[h:h+m.c.HeadSize], weight))
		}
	}
}

// times multiplies by a weight and adds its bias, where the model has one.
func (m *reference) times(weight string, x []float64) []float64 {
	w := m.w[weight]
	if m.parts > 0 && strings.Contains(weight, "proj") {
		x = m.rounded(x, strings.Contains(weight, "o_proj") || strings.Contains(weight, "down_proj"))
	}
	y := make([]float64, w.Shape[0])
	bias, biased := m.w[strings.TrimSuffix(weight, "weight")+"bias"]
	for i := range y {
		if biased {
			y[i] = float64(bias.Data[i])
		}
		for j, v := range x {
			y[i] += float64(w.Data[i*len(x)+j]) * v
		}
	}
	return y
}

// rounded is a row of codes times its scale, or each rank's part times its own: codes are the nearest ones where the
// least power of two has made all fit.
func (m *reference) rounded(x []float64, cut bool) (y []float64) {
	parts := 1
	switch {
	case m.block > 0:
		parts = len(x) / m.block
	case cut:
		parts = m.parts
	}
	for part := range slices.Chunk(x, len(x)/parts) {
		most := 0.0
		for _, v := range part {
			most = max(most, math.Abs(v))
		}
		scale := math.Ldexp(1, -126)
		for scale*448 < most {
			scale *= 2
		}
		for _, v := range part {
			y = append(y, codeValue(nearestCode(v/scale))*scale)
		}
	}
	return y
}

// turn is the rotary embedding of all heads at the position that is being written, as complex numbers. Gemma 3's layers
// have another base, but for every so-manieth, whose waves are longer.
func (m *reference) turn(x []float64, layer int) {
	half, theta, scaling := m.c.HeadSize/2, m.c.Theta, m.c.Scaling
	if n := m.c.Pattern; n > 0 && layer%n != n-1 {
		theta, scaling = m.c.LocalTheta, nil
	}
	for i := range half {
		f := math.Exp(-math.Log(theta) * float64(i) / float64(half))
		switch s := scaling; {
		case s == nil:
		case s.Type == "linear":
			f /= s.Factor
		default:
			turns := s.Original * f / (2 * math.Pi) // of the wave in the original context
			mix := math.Max(0, math.Min(1, (turns-s.Low)/(s.High-s.Low)))
			f = mix*f + (1-mix)*f/s.Factor
		}
		angle := float64(m.written) * f
		for h := 0; h < len(x); h += m.c.HeadSize {
			z := complex(x[h+i], x[h+i+half]) * complex(math.Cos(angle), math.Sin(angle))
			x[h+i], x[h+i+half] = real(z), imag(z)
		}
	}
}

func (m *reference) attend(l int, q []float64) []float64 {
	out := make([]float64, len(q))
	d := m.c.HeadSize
	root := math.Sqrt(cmp.Or(m.c.QueryScalar, float64(d)))
	for h := range m.c.Heads {
		kv := h * m.c.KeyHeads / m.c.Heads * d
		weights, total := make([]float64, len(m.keys[l])), 0.0
		for p, k := range m.keys[l] {
			score := 0.0
			for i := range d {
				score += q[h*d+i] * k[kv+i]
			}
			weights[p] = math.Exp(capped(score/root, m.c.ScoreCap))
			total += weights[p]
		}
		for p, v := range m.values[l] {
			for i := range d {
				out[h*d+i] += weights[p] / total * v[kv+i]
			}
		}
	}
	return out
}

// first is the greatest logit's token, the lowest of equal ones, and how far the next logit is below it.
func first(logits []float64) (token int, gap float64) {
	second := math.Inf(-1)
	for i, x := range logits {
		if x > logits[token] {
			token, second = i, logits[token]
		} else if i != token {
			second = max(second, x)
		}
	}
	return token, logits[token] - second
}

// spread is the standard deviation.
func spread(list []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, x := range list {
		sum, squares = sum+x, squares+x*x
	}
	n := float64(len(list))
	return math.Sqrt(squares/n - sum/n*sum/n)
}
