#pragma once

// All of the library. See docs/cpp.md.
#include "assay/data.h"
#include "assay/edit.h"
#include "assay/error.h"
#include "assay/model.h"
#include "assay/observer.h"
#include "assay/plugin.h"
#include "assay/run.h"
#include "assay/tensor.h"
