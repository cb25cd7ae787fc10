#ifndef RTW_HEADER_plain_types_h_
#define RTW_HEADER_plain_types_h_

typedef struct P_plain_T_ P_plain_T;
typedef struct tag_RTM_plain_T RT_MODEL_plain_T;

#endif
