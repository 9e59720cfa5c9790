#pragma once

// Headers that most sources of the upper modules include, like precompiled.h.
#include "base/log.h"
#include "precompiled.h"
#include "results/run_report.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"
