#pragma once

// What most sources of the upper modules include, as in precompiled.h.
#include "base/log.h"
#include "precompiled.h"
#include "results/run_report.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"
