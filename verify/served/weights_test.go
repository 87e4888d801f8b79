package served

import (
	"testing"

	s "ovgen/schedule"
)

// fsdp is a gated MLP of own rows whose weights are spread over the ranks by their rows, and travel.
func fsdp(ops ...s.Op) form {
	return of("A[M/D K] Up[F/D K] Gate[F/D K] Down[K/D F] C[M/D K]", ops...)
}

// TestWeightsTravel: what stands between weights that travel is of own rows, declared or not.
func TestWeightsTravel(t *testing.T) {
	up, down := s.Linear("H", "A", "Up", s.GELU()), s.Linear("C", "H", "Down", s.Add("A"))
	gate := s.Linear("G", "A", "Gate")
	gated := s.Linear("H", "A", "Up", s.SwiGLU("G"))
	explored(t, "Weights", []declared{
		{"declared", "both travel", of("A[M/D K] Up[F/D K] Down[K/D F] H[M/D F] C[M/D K]", up, down), served},
		{"not declared", "both travel", of("A[M/D K] Up[F/D K] Down[K/D F] C[M/D K]", up, down), served},
		{"gated", "three travel", fsdp(gate, gated, down), served},
		{"three products", "all travel", of("A[M/D K] Up[F/D K] Down[K/D F] W[N/D K] C[M/D N]", up,
			s.Linear("X", "H", "Down"), s.Linear("C", "X", "W")), served},
		{"also summed", "one reader takes columns", of("A[M/D K] Up[F/D K] Down[K/D F] W[N F/D] C[M/D K] C2[M/D N]", up,
			down, s.Linear("C2", "H", "W")), at("Tensors[2]", "H is spread along what is summed over")},
	})
}
