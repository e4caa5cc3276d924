// Tables of vm/math, made by make_tables.py: not to be changed by hand.
#pragma once
#include <stdint.h>

namespace raddle::vm::math {
// clang-format off

inline constexpr float log2_e_high32 = 0x1.715476p+0f;
inline constexpr float log2_e_low32 = 0x1.4ae0cp-26f;
inline constexpr float ln2_high32 = 0x1.62e43p-1f;
inline constexpr float ln2_low32 = -0x1.05c61p-29f;
inline constexpr float log10_e_high32 = 0x1.bcb7b2p-2f;
inline constexpr float log10_e_low32 = -0x1.5b235ep-27f;
inline constexpr float half_pi_high32 = 0x1.921fb6p+0f;
inline constexpr float half_pi_low32 = -0x1.777a5cp-25f;
inline constexpr float half_pi_third32 = -0x1.ee59dap-50f;
inline constexpr float pi_high32 = 0x1.921fb6p+1f;
inline constexpr float pi_low32 = -0x1.777a5cp-24f;
inline constexpr float two_log2_e_high32 = 0x1.715476p+1f;
inline constexpr float two_log2_e_low32 = 0x1.4ae0cp-25f;
inline constexpr float third_log2_e_high32 = 0x1.ec709ep-1f;  // two thirds of it
inline constexpr float third_log2_e_low32 = -0x1.e2fe02p-28f;
inline constexpr float ln2_cut_high32 = 0x1.62e4p-1f;  // log 2 in two parts, the first a multiple of 2^-16
inline constexpr float ln2_cut_low32 = 0x1.7f7d1cp-20f;
inline constexpr float log10_2_cut_high32 = 0x1.344p-2f;  // log10 2 likewise
inline constexpr float log10_2_cut_low32 = 0x1.3509f8p-18f;

/// (exp(r) - 1 - r) / r^2
inline constexpr float exp_polynomial32[] = {
    0x1p-1f, 0x1.555556p-3f, 0x1.5554e4p-5f, 0x1.1110d8p-7f, 0x1.6d4972p-10f, 0x1.a1388ep-13f};

/// (sinh(x) - x) / x^3, of x^2
inline constexpr float sinh_polynomial32[] = {
    0x1.555556p-3f, 0x1.1110f6p-7f, 0x1.a0e3ecp-13f};

/// (log(1 + f) - f + f^2/2) / f^3
inline constexpr float log_polynomial32[] = {
    0x1.555556p-2f, -0x1p-2f, 0x1.9998d4p-3f, -0x1.5554a6p-3f, 0x1.24c946p-3f, -0x1.0031c6p-3f,
    0x1.bc88d8p-4f, -0x1.8fe87ep-4f, 0x1.dbb7aap-4f, -0x1.b4c99p-4f};

/// (log2((1 + s) / (1 - s)) / s - (2 + 2/3 s^2) log2(e)) / s^4, of s^2
inline constexpr float pow_polynomial32[] = {
    0x1.2776c4p-1f, 0x1.a61864p-2f, 0x1.47ce76p-2f, 0x1.1fbd8ap-2f};

/// (sin(r) - r) / r^3, of r^2
inline constexpr float sin_polynomial32[] = {
    -0x1.555556p-3f, 0x1.11110ep-7f, -0x1.a01388p-13f, 0x1.6db388p-19f};

/// (cos(r) - 1 + r^2/2) / r^4, of r^2
inline constexpr float cos_polynomial32[] = {
    0x1.555554p-5f, -0x1.6c12bep-10f, 0x1.9bcdc6p-16f};

/// (atan(t) - t) / t^3, of t^2
inline constexpr float atan_polynomial32[] = {
    -0x1.555554p-2f, 0x1.99971p-3f, -0x1.241bd4p-3f, 0x1.b7b21ep-4f, -0x1.070fc8p-4f};

/// The cube root from 1 to 2, to 9 bits.
inline constexpr float cbrt_polynomial32[] = {
    0x1.405a14p-1f, 0x1.bbf74ep-2f, -0x1.de1966p-5f};

/// erf(x)/x - 1, of x^2, to 1/2
inline constexpr float erf_polynomial32[] = {
    0x1.06eba8p-3f, -0x1.812746p-2f, 0x1.ce2efp-4f, -0x1.b81fdp-6f, 0x1.54c8d2p-8f, -0x1.92fe3ep-11f};

/// exp(x^2) erfc(x) around the middle of each eighth of an octave from 0.5 up: the constant in two parts, 5 more.
inline constexpr float erfc_table32[] = {
    0x1.3334eap-1f, 0x1.b0ad32p-28f, -0x1.f6a562p-2f, 0x1.5b61f8p-2f, -0x1.a821c8p-3f, 0x1.d59cc6p-4f,
    -0x1.df3f2ap-5f, 0x1.242708p-1f, 0x1.d47c48p-27f, -0x1.cd992p-2f, 0x1.363b26p-2f, -0x1.71dd56p-3f,
    0x1.90fe18p-4f, -0x1.917fa4p-5f, 0x1.164fc6p-1f, 0x1.425f42p-28f, -0x1.a8e46cp-2f, 0x1.15c9a4p-2f,
    -0x1.437574p-3f, 0x1.576b4cp-4f, -0x1.5165b4p-5f, 0x1.098ea4p-1f, -0x1.302484p-26f, -0x1.87fbbep-2f,
    0x1.f2c0aap-3f, -0x1.1ba8aap-3f, 0x1.26f788p-4f, -0x1.1c61f6p-5f, 0x1.fb8e56p-2f, -0x1.d3a5fp-28f,
    -0x1.6a676ep-2f, 0x1.c0db0ep-3f, -0x1.f2da4cp-4f, 0x1.fc239ap-5f, -0x1.e0ce7cp-6f, 0x1.e5c0bep-2f,
    0x1.b9f9ep-28f, -0x1.4fc092p-2f, 0x1.94ec84p-3f, -0x1.b7ccc6p-4f, 0x1.b6e5ap-5f, -0x1.979ecp-6f,
    0x1.d18882p-2f, -0x1.85fb9cp-28f, -0x1.37ae6ap-2f, 0x1.6e24e4p-3f, -0x1.84b9d8p-4f, 0x1.7c1d3ep-5f,
    -0x1.5a8bdcp-6f, 0x1.bebec8p-2f, 0x1.8c4802p-27f, -0x1.21e43p-2f, 0x1.4bd376p-3f, -0x1.586f5ap-4f,
    0x1.4a126cp-5f, -0x1.276f1cp-6f, 0x1.a4f55p-2f, 0x1.8c4384p-27f, -0x1.04ec88p-2f, 0x1.1f73f8p-3f,
    -0x1.209266p-4f, 0x1.0c948ep-5f, -0x1.d3c374p-7f, 0x1.867492p-2f, 0x1.e415a8p-29f, -0x1.c841f2p-3f,
    0x1.de35a2p-4f, -0x1.cb8582p-5f, 0x1.9b23c2p-6f, -0x1.5956cep-7f, 0x1.6bb376p-2f, 0x1.52a3a6p-27f,
    -0x1.917d7ap-3f, 0x1.90e476p-4f, -0x1.71140ep-5f, 0x1.3da8eep-6f, -0x1.01802ap-7f, 0x1.5416ap-2f,
    0x1.65cfbap-28f, -0x1.63698ep-3f, 0x1.528b04p-4f, -0x1.2ae452p-5f, 0x1.ef47f6p-7f, -0x1.83ab2ep-8f,
    0x1.3f20dp-2f, 0x1.80099cp-30f, -0x1.3c5e94p-3f, 0x1.1fdbbp-4f, -0x1.e7e4f8p-6f, 0x1.8568a6p-7f,
    -0x1.267962p-8f, 0x1.2c6c3ep-2f, -0x1.aa6028p-27f, -0x1.1b110cp-3f, 0x1.ecaed8p-5f, -0x1.9126c6p-6f,
    0x1.34a764p-7f, -0x1.c340b8p-9f, 0x1.1ba58ep-2f, 0x1.2901e2p-29f, -0x1.fcf6c4p-4f, 0x1.a82deap-5f,
    -0x1.4c2308p-6f, 0x1.ed113cp-8f, -0x1.5c9dfep-9f, 0x1.0c8804p-2f, -0x1.028a14p-29f, -0x1.cb9b14p-4f,
    0x1.6f472ep-5f, -0x1.14d04cp-6f, 0x1.8cb87p-8f, -0x1.0f7504p-9f, 0x1.f0fd28p-3f, 0x1.ff3b7cp-28f,
    -0x1.8d6f74p-4f, 0x1.2adad6p-5f, -0x1.aa241cp-7f, 0x1.22911ap-8f, -0x1.7af04p-10f, 0x1.c3987ep-3f,
    -0x1.f426b4p-28f, -0x1.4baeacp-4f, 0x1.cdc858p-6f, -0x1.32a894p-7f, 0x1.8755aap-9f, -0x1.dfa86cp-11f,
    0x1.9d7738p-3f, 0x1.c5461ep-28f, -0x1.18737ap-4f, 0x1.6afd24p-6f, -0x1.c28dbap-8f, 0x1.0dc33cp-9f,
    -0x1.377772p-11f, 0x1.7d0a5ep-3f, 0x1.3c8622p-28f, -0x1.dfc02p-5f, 0x1.21c22cp-6f, -0x1.512f84p-8f,
    0x1.7be4acp-10f, -0x1.9e1894p-12f, 0x1.612a82p-3f, -0x1.b4e88ep-28f, -0x1.9e8804p-5f, 0x1.d503cep-7f,
    -0x1.009a88p-8f, 0x1.10b356p-10f, -0x1.193c24p-12f, 0x1.48f8f2p-3f, -0x1.fa6fap-28f, -0x1.696d36p-5f,
    0x1.804cb4p-7f, -0x1.8c84b6p-9f, 0x1.8e7152p-11f, -0x1.859386p-13f, 0x1.33cb1ap-3f, -0x1.d0869ep-28f,
    -0x1.3dacc8p-5f, 0x1.3e6828p-7f, -0x1.369926p-9f, 0x1.27c89p-11f, -0x1.12bae6p-13f, 0x1.211c62p-3f,
    0x1.64e8dap-29f, -0x1.193eb8p-5f, 0x1.0a7ap-7f, -0x1.ecb578p-10f, 0x1.bda19ap-12f, -0x1.89f24p-14f,
    0x1.08e62cp-3f, 0x1.d7cd3ep-28f, -0x1.da3954p-6f, 0x1.9ef6a6p-8f, -0x1.6372cap-10f, 0x1.2b910cp-12f,
    -0x1.ed642ep-15f, 0x1.dc603ap-4f, 0x1.06aa88p-30f, -0x1.81149cp-6f, 0x1.317bdap-8f, -0x1.dc1aa4p-11f,
    0x1.6df3d4p-13f, -0x1.13d1cp-15f, 0x1.b096fap-4f, 0x1.9f9db4p-29f, -0x1.3e981cp-6f, 0x1.cdeaa4p-9f,
    -0x1.49d468p-11f, 0x1.d189b2p-14f, -0x1.431106p-16f, 0x1.8c1404p-4f, 0x1.3b9ee2p-29f, -0x1.0bc46cp-6f,
    0x1.6534ep-9f, -0x1.d662d2p-12f, 0x1.329958p-14f, -0x1.89ec4ap-17f, 0x1.6d2f82p-4f, -0x1.c6eb58p-29f,
    -0x1.c82c14p-7f, 0x1.19a23p-9f, -0x1.57e094p-12f, 0x1.a03464p-15f, -0x1.f169d2p-18f, 0x1.52b80ep-4f,
    -0x1.72d44cp-29f, -0x1.8914e8p-7f, 0x1.c39a3p-10f, -0x1.00e4d6p-12f, 0x1.2206dap-15f, -0x1.43d176p-18f,
    0x1.3bcc5ap-4f, -0x1.7511ap-30f, -0x1.5621e4p-7f, 0x1.6f6898p-10f, -0x1.872cccp-13f, 0x1.9da8aep-16f,
    -0x1.b12a26p-19f, 0x1.27c2b4p-4f, 0x1.a639cap-29f, -0x1.2c6aecp-7f, 0x1.2ec80ap-10f, -0x1.2ed97ap-13f,
    0x1.2d185cp-16f, -0x1.28c01ep-19f, 0x1.0e078p-4f, 0x1.5b9388p-30f, -0x1.f57caep-8f, 0x1.cea17ep-11f,
    -0x1.a80e8ap-14f, 0x1.841bfep-17f, -0x1.5f5022p-20f, 0x1.e3db9cp-5f, -0x1.faf86ap-32f, -0x1.93108cp-8f,
    0x1.4dfcdep-11f, -0x1.134fbp-14f, 0x1.c5524ep-18f, -0x1.71e034p-21f, 0x1.b634a6p-5f, -0x1.fa6dfp-30f,
    -0x1.4ae8bcp-8f, 0x1.f196dap-12f, -0x1.748118p-15f, 0x1.1692e6p-18f, -0x1.9d904ep-22f, 0x1.90658cp-5f,
    0x1.3ffcd4p-31f, -0x1.14782cp-8f, 0x1.7c66a4p-12f, -0x1.04c148p-15f, 0x1.652af2p-19f, -0x1.e62afp-23f};

// clang-format on
}  // namespace raddle::vm::math
