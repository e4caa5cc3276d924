// Random numbers as functions of a seed and of the identity of a stream: who asks for others, and when, changes none of
// them. They are Philox4x32-10. Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// SC'11.
//
// Note [streams of random numbers]. A run has a stream, which is its seed. What begins in it has one of its own, which
// is mixed of it and of what tells it apart: of a call, or a loop, its place in the script (lower/name_streams.hpp), of
// an iteration its number or key, of each further iteration of a `for` the number 1. A call that draws takes the first
// numbers of its stream, whose block `index` has two.
#pragma once
#include "vm/math/number.hpp"

namespace raddle::vm::math {

template <class Word>
RADDLE_MATH_INLINE Word mix_stream(Word stream, Word with) {
  const Word mixed = (stream ^ (with + Word(uint64_t{0x9E3779B97F4A7C15}))) * Word(uint64_t{0xBF58476D1CE4E5B9});
  return mixed ^ (mixed >> 29);
}

template <class Word>
struct RandomBlock {
  Word first, second;
};

/// With the counter (index, stream), each in two words of 32 bits, the lower one first. So are the results.
template <class Word>
RADDLE_MATH_INLINE RandomBlock<Word> philox(Word seed, Word stream, Word index) {
  const Word low(uint64_t{0xffffffff});
  Word word_0 = index & low, word_1 = index >> 32, word_2 = stream & low, word_3 = stream >> 32;
  Word key_0 = seed & low, key_1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    const Word product_0 = Word(uint64_t{0xD2511F53}) * word_0, product_1 = Word(uint64_t{0xCD9E8D57}) * word_2;
    word_0 = (product_1 >> 32) ^ word_1 ^ key_0;
    word_1 = product_1 & low;
    word_2 = (product_0 >> 32) ^ word_3 ^ key_1;
    word_3 = product_0 & low;
    key_0 = (key_0 + Word(uint64_t{0x9E3779B9})) & low;
    key_1 = (key_1 + Word(uint64_t{0xBB67AE85})) & low;
  }
  return {word_0 | (word_1 << 32), word_2 | (word_3 << 32)};
}

/// The number `index` of a stream, of 64 bits.
template <class F>
RADDLE_MATH_INLINE WordOf<F> random_bits(WordOf<F> seed, WordOf<F> stream, WordOf<F> index) {
  const RandomBlock<WordOf<F>> block = philox(seed, stream, index >> 1);
  return select((index & WordOf<F>(1)) == WordOf<F>(0), block.first, block.second);
}

/// In [0, 1): a multiple of 2^-53. In two parts, as processors make no numbers of so many bits at once.
template <class F>
RADDLE_MATH_INLINE F unit_of_bits(WordOf<F> bits) {
  const WordOf<F> whole = bits >> 11;
  return number_of<F>(whole >> 32) * F(0x1p-21) + number_of<F>(whole & WordOf<F>(uint64_t{0xffffffff})) * F(0x1p-53);
}

template <class F>
RADDLE_MATH_INLINE F random_unit(WordOf<F> seed, WordOf<F> stream, WordOf<F> index) {
  return unit_of_bits<F>(random_bits<F>(seed, stream, index));
}

/// The upper half of a product of 128 bits.
template <class Word>
RADDLE_MATH_INLINE Word upper_product(Word a, Word b) {
  const Word low(uint64_t{0xffffffff});
  const Word a_low = a & low, a_high = a >> 32, b_low = b & low, b_high = b >> 32;
  const Word middle = a_high * b_low + ((a_low * b_low) >> 32);
  const Word other_middle = a_low * b_high + (middle & low);
  return a_high * b_high + (middle >> 32) + (other_middle >> 32);
}

}  // namespace raddle::vm::math
