// The table of entries of libagon_learn.so. The library is linked so that the entries are its own functions and not the
// program's functions of the same names.
#include "cli/learning/entries.h"
#include "cli/version.h"

extern "C" const agon::cli::LearningEntries kAgonLearningEntries{
    &agon::cli::version,
    &agon::agents::train,
    &agon::agents::train_sft,
    &agon::agents::train_offline,
    &agon::agents::probed_group,
    &agon::agents::split_steps_of,
    &agon::agents::make_sentence_similarity,
    &agon::agents::torch_info,
    &agon::agents::open_torch_backend,
    &agon::critic::open_reward_model,
    &agon::critic::load_reward_training,
    &agon::critic::train_reward_model,
    &agon::critic::train_judge,
};
