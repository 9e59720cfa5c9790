#pragma once

#include <string>

#include "results/doctor.h"

namespace assay::report {

// One JSON object of the schema assay/doctor/1.
std::string doctor_json(const results::DoctorReport& report);

}  // namespace assay::report
