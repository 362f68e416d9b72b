// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compiled into the precompiled header of the end-to-end tests' LibTorch programs, and never run: what all of them, or many, would instantiate
// for themselves is instantiated here once. LibTorch's module classes are used by its own headers, so that each program instantiates the
// virtual functions of a hundred of them.
#include <torch/torch.h>

namespace early {

namespace nn = torch::nn;

template <class... M>
inline void modules() {
  (static_cast<M*>(nullptr)->nn::template Cloneable<M>::clone({}), ...);
}

template <size_t D, class M>
inline void convolution(std::ostream& out) {
  auto* const m = static_cast<M*>(nullptr);
  m->nn::template ConvNdImpl<D, M>::pretty_print(out);
  m->nn::template ConvNdImpl<D, M>::reset();
}

inline void all(std::ostream& out) {
  modules<nn::SequentialImpl, nn::ModuleListImpl, nn::ModuleDictImpl, nn::ParameterListImpl, nn::ParameterDictImpl, nn::FunctionalImpl, nn::IdentityImpl, nn::LinearImpl,
          nn::FlattenImpl, nn::UnflattenImpl, nn::BilinearImpl, nn::DropoutImpl, nn::Dropout2dImpl, nn::Dropout3dImpl, nn::AlphaDropoutImpl, nn::FeatureAlphaDropoutImpl,
          nn::EmbeddingImpl, nn::EmbeddingBagImpl, nn::RNNImpl, nn::LSTMImpl, nn::GRUImpl, nn::RNNCellImpl, nn::LSTMCellImpl, nn::GRUCellImpl, nn::MultiheadAttentionImpl,
          nn::TransformerImpl, nn::TransformerEncoderImpl, nn::TransformerDecoderImpl, nn::TransformerEncoderLayerImpl, nn::TransformerDecoderLayerImpl>();
  modules<nn::Conv1dImpl, nn::Conv2dImpl, nn::Conv3dImpl, nn::ConvTranspose1dImpl, nn::ConvTranspose2dImpl, nn::ConvTranspose3dImpl, nn::BatchNorm1dImpl, nn::BatchNorm2dImpl,
          nn::BatchNorm3dImpl, nn::InstanceNorm1dImpl, nn::InstanceNorm2dImpl, nn::InstanceNorm3dImpl, nn::LayerNormImpl, nn::GroupNormImpl, nn::LocalResponseNormImpl,
          nn::CrossMapLRN2dImpl, nn::AvgPool1dImpl, nn::AvgPool2dImpl, nn::AvgPool3dImpl, nn::MaxPool1dImpl, nn::MaxPool2dImpl, nn::MaxPool3dImpl, nn::AdaptiveAvgPool1dImpl,
          nn::AdaptiveAvgPool2dImpl, nn::AdaptiveAvgPool3dImpl, nn::AdaptiveMaxPool1dImpl, nn::AdaptiveMaxPool2dImpl, nn::AdaptiveMaxPool3dImpl, nn::MaxUnpool1dImpl,
          nn::MaxUnpool2dImpl, nn::MaxUnpool3dImpl, nn::FractionalMaxPool2dImpl, nn::FractionalMaxPool3dImpl, nn::LPPool1dImpl, nn::LPPool2dImpl, nn::FoldImpl, nn::UnfoldImpl,
          nn::UpsampleImpl, nn::PixelShuffleImpl, nn::PixelUnshuffleImpl, nn::ZeroPad2dImpl, nn::ConstantPad1dImpl, nn::ConstantPad2dImpl, nn::ConstantPad3dImpl,
          nn::ReflectionPad1dImpl, nn::ReflectionPad2dImpl, nn::ReflectionPad3dImpl, nn::ReplicationPad1dImpl, nn::ReplicationPad2dImpl, nn::ReplicationPad3dImpl>();
  modules<nn::ELUImpl, nn::SELUImpl, nn::HardshrinkImpl, nn::HardtanhImpl, nn::LeakyReLUImpl, nn::LogSigmoidImpl, nn::SoftmaxImpl, nn::SoftminImpl, nn::LogSoftmaxImpl,
          nn::Softmax2dImpl, nn::PReLUImpl, nn::ReLUImpl, nn::ReLU6Impl, nn::RReLUImpl, nn::CELUImpl, nn::GLUImpl, nn::GELUImpl, nn::SiLUImpl, nn::MishImpl, nn::SigmoidImpl,
          nn::SoftplusImpl, nn::SoftshrinkImpl, nn::SoftsignImpl, nn::TanhImpl, nn::TanhshrinkImpl, nn::ThresholdImpl, nn::CosineSimilarityImpl, nn::PairwiseDistanceImpl>();
  modules<nn::L1LossImpl, nn::KLDivLossImpl, nn::MSELossImpl, nn::BCELossImpl, nn::HingeEmbeddingLossImpl, nn::MultiMarginLossImpl, nn::CosineEmbeddingLossImpl,
          nn::SmoothL1LossImpl, nn::HuberLossImpl, nn::MultiLabelMarginLossImpl, nn::SoftMarginLossImpl, nn::MultiLabelSoftMarginLossImpl, nn::TripletMarginLossImpl,
          nn::TripletMarginWithDistanceLossImpl, nn::CTCLossImpl, nn::PoissonNLLLossImpl, nn::MarginRankingLossImpl, nn::NLLLossImpl, nn::CrossEntropyLossImpl,
          nn::BCEWithLogitsLossImpl, nn::AdaptiveLogSoftmaxWithLossImpl>();
  convolution<1, nn::Conv1dImpl>(out);
  convolution<2, nn::Conv2dImpl>(out);
  convolution<3, nn::Conv3dImpl>(out);
  convolution<1, nn::ConvTranspose1dImpl>(out);
  convolution<2, nn::ConvTranspose2dImpl>(out);
  convolution<3, nn::ConvTranspose3dImpl>(out);
}

}  // namespace early
