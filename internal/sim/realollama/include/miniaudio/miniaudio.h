// What Ollama's multimodal code names of the library miniaudio, which the Go module lacks: enough to compile. It would decode
// recordings; here it says that it can't.
#ifndef OREBOT_MINIAUDIO_H
#define OREBOT_MINIAUDIO_H
#include <cstdint>

typedef std::uint64_t ma_uint64;
typedef int ma_result;
typedef int ma_format;
enum { MA_SUCCESS = 0, ma_format_f32 = 5 };
struct ma_decoder_config { int none; };
struct ma_decoder { int none; };

inline ma_decoder_config ma_decoder_config_init(ma_format, std::uint32_t, std::uint32_t) { return ma_decoder_config{0}; }
inline ma_result ma_decoder_init_memory(const void *, std::size_t, const ma_decoder_config *, ma_decoder *) { return -1; }
inline ma_result ma_decoder_get_length_in_pcm_frames(ma_decoder *, ma_uint64 *) { return -1; }
inline ma_result ma_decoder_read_pcm_frames(ma_decoder *, void *, ma_uint64, ma_uint64 *) { return -1; }
inline void ma_decoder_uninit(ma_decoder *) {}

#endif
