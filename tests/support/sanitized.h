#pragma once

// Whether this build runs under the sanitizer of addresses or threads. Both map memory of their own: limits of
// addresses mean nothing. That of threads makes fork of vfork: a child cannot tell its parent why it failed to start.
#if defined(__has_feature)
constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kHasAddressSanitizer = false;
constexpr bool kHasThreadSanitizer = false;
#endif
constexpr bool kIsSanitized = kHasAddressSanitizer || kHasThreadSanitizer;
