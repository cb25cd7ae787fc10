/**
 * @file rtw_solver.h
 * @brief The book-keeping of a fixed-step solver, which generated code reads and writes by these names.
 */
#ifndef RTW_SOLVER_H
#define RTW_SOLVER_H

#include <rtw_continuous.h>

typedef enum {
    SOLVER_MODE_AUTO,
    SOLVER_MODE_SINGLETASKING,
    SOLVER_MODE_MULTITASKING
} SolverMode;

/* What a fixed-step solver knows of its model. The order of the members is ours: no other code sees it. */
typedef struct {
    void *model;
    SimTimeStep *step_kind;
    void *data;
    const char_T *name;
    time_T *step_size;
    time_T **time;
    real_T **derivatives;
    real_T **states;
    int_T *state_count;
    int_T *periodic_count;
    int_T **periodic_indices;
    real_T **periodic_ranges;
    boolean_T **disabled;
    const char_T *volatile *error_status;
    void *methods;
    time_T stop_time;
    time_T fixed_step;
    SolverMode mode;
    int_T extrapolation_order;
    int_T newton_iterations;
    boolean_T variable_step;
    boolean_T needs_reset;
    boolean_T state_changed;
    boolean_T mode_change;
    boolean_T modes_frozen;
    boolean_T computing_jacobian;
    boolean_T output_computed;
    boolean_T output_inconsistent;
} RTWSolverInfo;

#define rtsiSetRTModelPtr(S, value) ((S)->model = (value))
#define rtsiGetRTModelPtr(S) ((S)->model)
#define rtsiSetSimTimeStepPtr(S, value) ((S)->step_kind = (value))
#define rtsiGetSimTimeStep(S) (*(S)->step_kind)
#define rtsiSetSimTimeStep(S, value) (*(S)->step_kind = (value))
#define rtsiSetSolverData(S, value) ((S)->data = (value))
#define rtsiGetSolverData(S) ((S)->data)
#define rtsiSetSolverName(S, value) ((S)->name = (value))
#define rtsiGetSolverName(S) ((S)->name)
#define rtsiSetSolverMode(S, value) ((S)->mode = (value))
#define rtsiGetSolverMode(S) ((S)->mode)
#define rtsiSetSolverStopTime(S, value) ((S)->stop_time = (value))
#define rtsiGetSolverStopTime(S) ((S)->stop_time)
#define rtsiSetStepSizePtr(S, value) ((S)->step_size = (value))
#define rtsiGetStepSize(S) (*(S)->step_size)
#define rtsiSetStepSize(S, value) (*(S)->step_size = (value))
#define rtsiSetFixedStepSize(S, value) ((S)->fixed_step = (value))
#define rtsiGetFixedStepSize(S) ((S)->fixed_step)
#define rtsiSetTPtr(S, value) ((S)->time = (value))
#define rtsiGetT(S) (**(S)->time)
#define rtsiSetT(S, value) (**(S)->time = (value))
#define rtsiSetdXPtr(S, value) ((S)->derivatives = (value))
#define rtsiGetdX(S) (*(S)->derivatives)
#define rtsiSetdX(S, value) (*(S)->derivatives = (value))
#define rtsiSetContStatesPtr(S, value) ((S)->states = (value))
#define rtsiGetContStates(S) (*(S)->states)
#define rtsiSetNumContStatesPtr(S, value) ((S)->state_count = (value))
#define rtsiGetNumContStates(S) (*(S)->state_count)
#define rtsiSetNumPeriodicContStatesPtr(S, value) ((S)->periodic_count = (value))
#define rtsiGetNumPeriodicContStates(S) (*(S)->periodic_count)
#define rtsiSetPeriodicContStateIndicesPtr(S, value) ((S)->periodic_indices = (value))
#define rtsiGetPeriodicContStateIndices(S) (*(S)->periodic_indices)
#define rtsiSetPeriodicContStateRangesPtr(S, value) ((S)->periodic_ranges = (value))
#define rtsiGetPeriodicContStateRanges(S) (*(S)->periodic_ranges)
#define rtsiSetContStateDisabledPtr(S, value) ((S)->disabled = (value))
#define rtsiGetContStateDisabled(S) (*(S)->disabled)
#define rtsiSetErrorStatusPtr(S, value) ((S)->error_status = (value))
#define rtsiGetErrorStatus(S) (*(S)->error_status)
#define rtsiSetErrorStatus(S, value) (*(S)->error_status = (value))
#define rtsiSetModelMethodsPtr(S, value) ((S)->methods = (value))
#define rtsiGetModelMethodsPtr(S) ((S)->methods)
#define rtsiSetVariableStepSolver(S, value) ((S)->variable_step = (value))
#define rtsiIsVariableStepSolver(S) ((S)->variable_step)
#define rtsiSetSolverNeedsReset(S, value) ((S)->needs_reset = (value))
#define rtsiGetSolverNeedsReset(S) ((S)->needs_reset)
#define rtsiSetBlkStateChange(S, value) ((S)->state_changed = (value))
#define rtsiGetBlkStateChange(S) ((S)->state_changed)
#define rtsiSetBlockStateForSolverChangedAtMajorStep(S, value) ((S)->state_changed = (value))
#define rtsiGetBlockStateForSolverChangedAtMajorStep(S) ((S)->state_changed)
#define rtsiSetContTimeOutputInconsistentWithStateAtMajorStep(S, value) ((S)->output_inconsistent = (value))
#define rtsiGetContTimeOutputInconsistentWithStateAtMajorStep(S) ((S)->output_inconsistent)
#define rtsiSetIsMinorTimeStepWithModeChange(S, value) ((S)->mode_change = (value))
#define rtsiGetIsMinorTimeStepWithModeChange(S) ((S)->mode_change)
#define rtsiSetIsContModeFrozen(S, value) ((S)->modes_frozen = (value))
#define rtsiGetIsContModeFrozen(S) ((S)->modes_frozen)
#define rtsiSetSolverComputingJacobian(S, value) ((S)->computing_jacobian = (value))
#define rtsiIsSolverComputingJacobian(S) ((S)->computing_jacobian)
#define rtsiSetSolverOutputComputed(S, value) ((S)->output_computed = (value))
#define rtsiIsSolverOutputComputed(S) ((S)->output_computed)
#define rtsiSetSolverExtrapolationOrder(S, value) ((S)->extrapolation_order = (value))
#define rtsiGetSolverExtrapolationOrder(S) ((S)->extrapolation_order)
#define rtsiSetSolverNumberNewtonIterations(S, value) ((S)->newton_iterations = (value))
#define rtsiGetSolverNumberNewtonIterations(S) ((S)->newton_iterations)
#define rtsiIsModeUpdateTimeStep(S) \
    (rtsiGetSimTimeStep(S) == MAJOR_TIME_STEP || rtsiGetIsMinorTimeStepWithModeChange(S))

#endif
