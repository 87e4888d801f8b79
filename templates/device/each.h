// Functions of an element, in fp32.

DEVICE float relu_of(float x) { return x > 0.0f ? x : 0.0f; }

// By tanh: (1 + tanh(u)) / 2 is the logistic function of 2u.
DEVICE float gelu_of(float x)
{
  const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
  return x / (1.0f + exponential(-2.0f * u));
}
