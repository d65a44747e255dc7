// Parameter counts against published ones, and against sums by hand.
#include "sim/dnn/transformer.h"

#include <doctest/doctest.h>

#include "tests/sim/dnn/shapes.h"

namespace sim::dnn {

// By hand, per layer, h = 768: qkv 768 * 2304 + 2304 = 1,771,776; output 768 * 768 + 768 = 590,592;
// feed-forward 768 * 3072 + 3072 + 3072 * 768 + 768 = 4,722,432; two norms 2 * 2 * 768 = 3,072;
// together 7,087,872. Times 12 = 85,054,464. Embedding 50,257 * 768 + 1,024 * 768 = 39,383,808.
// Final norm 1,536. Sum 124,439,808, as published for GPT-2 small.
TEST_CASE("GPT-2: parts by hand, totals as published") {
  const Transformer small = gpt(12, 768, 12, 50257, 1024);
  CHECK(layer_parameters(small) == 7'087'872);
  CHECK(embedding_parameters(small) == 39'383'808);
  CHECK(head_parameters(small) == 1'536);
  CHECK(total_parameters(small) == 124'439'808);
  CHECK(total_parameters(gpt(24, 1024, 16, 50257, 1024)) == 354'823'168);
  CHECK(total_parameters(gpt(36, 1280, 20, 50257, 1024)) == 774'030'080);
  CHECK(total_parameters(gpt(48, 1600, 25, 50257, 1024)) == 1'557'611'200);
}

// A GPT layer has 12 h^2 + 13 h (biases 3 + 1 + 4 + 1, norms 4). h = 12288:
// 12 * 150,994,944 + 159,744 = 1,812,099,072; times 96 = 173,961,510,912. Tokens 50,257 * 12,288 =
// 617,558,016; positions 2,048 * 12,288 = 25,165,824; final norm 24,576. Sum 174,604,259,328.
// Source: Brown et al., 2020, appendix D, table D.1: 174,600 million.
TEST_CASE("GPT-3 175B, Megatron 530B and 1T") {
  CHECK(total_parameters(gpt(96, 12288, 96, 50257, 2048)) == 174'604'259'328);
  // Narayanan et al., SC '21, table 1: 529.6 and 1008.0 billion.
  CHECK(total_parameters(gpt(105, 20480, 128, 51200, 2048)) / 100'000'000 == 5'296);
  CHECK(total_parameters(gpt(128, 25600, 160, 51200, 2048)) / 100'000'000 == 10'080);
}

// Llama-2-7B: 4 * 4096^2 + 3 * 4096 * 11008 + 2 * 4096 = 202,383,360 per layer, 6,476,267,520 in
// 32; two tables of 32,000 * 4,096 = 262,144,000; final norm 4,096. Sum 6,738,415,616.
TEST_CASE("Llama: grouped queries, two tables") {
  const Transformer small = llama(32, 4096, 32, 32, 11008, 32000);
  CHECK(layer_parameters(small) == 202'383'360);
  CHECK(total_parameters(small) == 6'738'415'616);
  CHECK(total_parameters(llama(40, 5120, 40, 40, 13824, 32000)) == 13'015'864'320);
  CHECK(total_parameters(llama(80, 8192, 64, 8, 28672, 32000)) == 68'976'648'192);
  CHECK(total_parameters(llama_8b()) == 8'030'261'248);
  CHECK(total_parameters(llama(80, 8192, 64, 8, 28672, 128256)) == 70'553'706'496);
  // 126 layers of 16,384 * (2 * 16,384 + 2 * 1,024) + 3 * 16,384 * 53,248 + 32,768 = 3,187,703,808,
  // two tables of 128,256 * 16,384, final norm 16,384.
  CHECK(total_parameters(llama(126, 16384, 128, 8, 53248, 128256)) == 405'853'388'800);
  // Mistral-7B-v0.1.
  CHECK(total_parameters(llama(32, 4096, 32, 8, 14336, 32000)) == 7'241'732'096);
}

// Llama-3.2-1B shares one table of 128,256 * 2,048 = 262,668,288; a layer has 2,048 * (2,048 + 512
// + 512 + 2,048) + 3 * 2,048 * 8,192 + 4,096 = 60,821,504 (16 of them 973,144,064), final norm
// 2,048.
TEST_CASE("Llama 3.2: tied embedding is counted once") {
  Transformer dnn = llama(16, 2048, 32, 8, 8192, 128256);
  dnn.tied_embedding = true;
  CHECK(layer_parameters(dnn) == 60'821'504);
  CHECK(total_parameters(dnn) == 1'235'814'400);
  CHECK(head_parameters(dnn) == 2'048);
}

// Qwen2-7B: bias on query, key, value only: 3,584 + 512 + 512 = 4,608 a layer.
// Qwen3-8B: norms of 128 on query and key: 256 a layer.
TEST_CASE("Qwen: biases on query, key and value; norms on query and key") {
  Transformer second = llama(28, 3584, 28, 4, 18944, 152064);
  const std::int64_t plain = layer_parameters(second);
  second.attention_bias = true;
  CHECK(layer_parameters(second) - plain == 4'608);
  CHECK(total_parameters(second) == 7'615'616'512);
  Transformer third = llama(36, 4096, 32, 8, 12288, 151936);
  const std::int64_t without = layer_parameters(third);
  third.query_key_norm = true;
  CHECK(layer_parameters(third) - without == 256);
  CHECK(total_parameters(third) == 8'190'735'360);
}

// Gemma-7B: heads are wider together (16 * 256 = 4,096) than the stream (3,072): 4 * 3,072 * 4,096
// = 50,331,648; 3 * 3,072 * 24,576 = 226,492,416; norms 6,144; 276,830,208 a layer, 28 layers, one
// table of 256,000 * 3,072 = 786,432,000, final norm 3,072.
TEST_CASE("Gemma: head size apart from hidden, one key head, norms around blocks") {
  Transformer seven = llama(28, 3072, 16, 16, 24576, 256000);
  seven.head_size = 256;
  seven.tied_embedding = true;
  CHECK(layer_parameters(seven) == 276'830'208);
  CHECK(total_parameters(seven) == 8'537'680'896);
  Transformer two = llama(18, 2048, 8, 1, 16384, 256000);
  two.tied_embedding = true;
  CHECK(total_parameters(two) == 2'506'172'416);
  Transformer nine = llama(42, 3584, 16, 8, 14336, 256000);
  nine.head_size = 256;
  nine.tied_embedding = nine.sandwich_norm = true;
  CHECK(layer_norm_parameters(nine) == 4 * 3'584);
  CHECK(total_parameters(nine) == 9'241'705'984);
}

// OPT stores two more positions than it uses. OPT-350m: tables of width 512, projections 512 x 1024
// in and out, no final norm: 24 * 12,596,224 + 50,272 * 512 + 2,050 * 1,024 + 2 * 524,288.
TEST_CASE("OPT: position offset, narrow embedding") {
  CHECK(total_parameters(gpt(24, 2048, 32, 50272, 2050)) == 1'315'758'080);
  Transformer narrow = gpt(24, 1024, 16, 50272, 2050);
  narrow.embedding_size = 512;
  narrow.final_norm = false;
  CHECK(layer_parameters(narrow) == 12'596'224);
  CHECK(head_parameters(narrow) == 524'288);
  CHECK(total_parameters(narrow) == 331'196'416);
}

// BLOOM-176B: 70 * (12 h^2 + 13 h) = 70 * 2,466,437,120 = 172,650,598,400 with h = 14,336; table
// 250,880 * 14,336 = 3,596,615,680; embedding norm and final norm 28,672 each. No positions.
TEST_CASE("BLOOM: embedding norm, no position table") {
  Transformer bloom = gpt(70, 14336, 112, 250880, 0);
  bloom.position = Position::alibi;
  bloom.embedding_norm = true;
  CHECK(layer_parameters(bloom) == 2'466'437'120);
  CHECK(embedding_parameters(bloom) == 3'596'615'680 + 28'672);
  CHECK(total_parameters(bloom) == 176'247'271'424);
}

// One row of 64 outputs for each of 1000 words.
TEST_CASE("head: its bias, and no final norm") {
  Transformer dnn = llama(1, 64, 4, 4, 128, 1000);
  CHECK(head_parameters(dnn) == 64 + 64'000);
  dnn.head_bias = true;
  CHECK(head_parameters(dnn) == 64 + 65'000);
  dnn.final_norm = false;
  CHECK(head_parameters(dnn) == 65'000);
}

// Matrices are what is left of a layer without biases: 12 h^2 of GPT.
TEST_CASE("matrix parameters leave out biases and norms") {
  const Transformer dnn = gpt(1, 128, 8, 100, 16);
  CHECK(layer_matrix_parameters(dnn) == 12 * 128 * 128);
  CHECK(layer_parameters(dnn) - layer_matrix_parameters(dnn) == 13 * 128);
  const Transformer bare = llama(1, 128, 8, 2, 384, 100);
  CHECK(layer_matrix_parameters(bare) == layer_parameters(bare) - layer_norm_parameters(bare));
}

}  // namespace sim::dnn
