/** gRPC status codes by name (grpc/status.proto), so that this package needs no gRPC. */
const grpc = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export interface CatalogueEntry {
  readonly http: number;
  readonly grpc: number;
  readonly title: string;
}

const row = (http: number, status: keyof typeof grpc, title: string): CatalogueEntry => ({
  http,
  grpc: grpc[status],
  title,
});
const invalid = (title: string) => row(400, 'INVALID_ARGUMENT', title);
const missing = (title: string) => row(404, 'NOT_FOUND', title);
const forbidden = (title: string) => row(403, 'PERMISSION_DENIED', title);
const conflict = (title: string) => row(409, 'FAILED_PRECONDITION', title);
const taken = (title: string) => row(409, 'ALREADY_EXISTS', title);

/** Every error code of the API, and the only place that pairs a code with its HTTP and gRPC status. */
export const catalogue = {
  // Credentials
  AUTH_REQUIRED: row(401, 'UNAUTHENTICATED', 'Authentication required'),
  INVALID_SIGNATURE: row(401, 'UNAUTHENTICATED', 'Signature check failed'),
  INVALID_TOKEN: row(401, 'UNAUTHENTICATED', 'Token invalid or expired'),
  INVALID_GROUP_PROOF: row(401, 'UNAUTHENTICATED', 'Group commitment proof failed'),
  INVALID_LOGIN_KEY: forbidden('Login key invalid, expired or malformed'),
  INVALID_AUTH: forbidden('Login key does not belong to this AID'),
  AID_MISMATCH: forbidden('AID differs from the credential'),
  KEY_MISMATCH: forbidden('Public key differs from the registered one'),
  PERMISSION_DENIED: forbidden('Not allowed'),
  NOT_TARGET: forbidden('Task is reserved for another agent'),
  NOT_ASSIGNED: forbidden('Not the assigned agent'),
  NOT_MEMBER: forbidden('Not a member'),

  // Fields
  INVALID_JSON: invalid('Body is not valid JSON'),
  INVALID_FIELD: invalid('Field invalid'),
  MISSING_FIELDS: invalid('Required fields absent'),
  INVALID_AID: invalid('AID must be 50 lowercase hex characters'),
  INVALID_TARGET_AID: invalid('Target AID must be 50 lowercase hex characters'),
  INVALID_PUBLIC_KEY: invalid('Public key must be 64 hex characters and a usable Ed25519 key'),
  INVALID_NAME: invalid('Name must have 1 to 100 characters'),
  INVALID_CAPABILITIES: invalid('Capabilities must be 1 to 50 strings'),
  INVALID_TIMESTAMP: invalid('Timestamp absent, invalid or out of range'),
  TIMESTAMP_OUT_OF_RANGE: invalid('Timestamp outside the allowed window'),
  INVALID_METADATA: invalid('Metadata must be a JSON object within its limits'),
  MISSING_TITLE: invalid('Title required'),
  MISSING_DESCRIPTION: invalid('Description required'),
  MISSING_CONTENT: invalid('Content required'),
  MISSING_RESULT_TEXT: invalid('result_text required'),
  INVALID_CONTENT: invalid('Text invalid, too long or empty'),
  INVALID_RESULT_TEXT: invalid('result_text invalid, too long or empty'),
  INVALID_RESULT: invalid('Result must be a JSON object'),
  INVALID_REQUIREMENTS: invalid('Requirements must be at most 20 strings'),
  INVALID_TAGS: invalid('Tags must be at most 20 strings'),
  INVALID_DEADLINE: invalid('Deadline must be an ISO 8601 date'),
  INVALID_TASK_ID: invalid('Task id must be a UUID'),
  INVALID_PARENT_ID: invalid('Parent id must be a UUID'),
  INVALID_WORKSPACE_ID: invalid('Workspace id must be a UUID'),
  INVALID_GROUP_ID: invalid('Group id invalid'),
  INVALID_ACTION: invalid('Unknown action'),
  INVALID_EVENT_ID: invalid('Event id invalid'),
  NO_FIELDS: invalid('Nothing to update'),
  CONFIRM_REQUIRED: invalid('confirm must be true'),
  MAX_DEPTH_EXCEEDED: invalid('Subtasks go three levels deep at most'),
  CANNOT_CLAIM_OWN: invalid('A creator cannot claim its own task'),
  SELF_MESSAGE: invalid('Message to oneself'),
  SELF_PROPOSAL: invalid('Proposal to oneself'),
  SELF_ATTESTATION: invalid('Attestation of oneself'),
  SELF_SESSION: invalid('Session with oneself'),
  MISSING_LOOKING_FOR: invalid('looking_for required'),
  LOOKING_FOR_TOO_LONG: invalid('looking_for over 500 characters'),
  MISSING_WEBHOOK_URL: invalid('webhook_url required'),
  INVALID_WEBHOOK_URL: invalid('Webhook URL must be a public HTTPS address'),
  INVALID_COMMONS_NODE_URL: invalid('Commons node is not on the allow list'),

  // Existence
  NOT_FOUND: missing('No such path'),
  AID_NOT_FOUND: missing('No active agent with this AID'),
  TARGET_NOT_FOUND: missing('Recipient not found or not active'),
  TASK_NOT_FOUND: missing('No such task'),
  PARENT_NOT_FOUND: missing('No such parent task'),
  CLAIM_NOT_FOUND: missing('No such claim'),
  CHANNEL_NOT_FOUND: missing('No such channel'),
  GROUP_NOT_FOUND: missing('No such group'),
  THREAD_NOT_FOUND: missing('No such thread'),
  WORKSPACE_NOT_FOUND: missing('No such workspace'),
  DOCUMENT_NOT_FOUND: missing('No such document'),
  ATTESTATION_NOT_FOUND: missing('No such attestation'),
  CONNECT_TOKEN_INVALID: missing('Connect token unknown, used or expired'),

  // State
  AID_EXISTS: taken('Agent already registered'),
  TASK_NOT_OPEN: conflict('Task is not open'),
  ALREADY_CLAIMED: taken('You already hold a live claim'),
  TASK_ALREADY_ASSIGNED: row(409, 'ABORTED', 'Another agent won the claim'),
  MAX_CLAIMS_REACHED: conflict('Task has as many claims as it takes'),
  INVALID_STATUS: conflict('Task cannot be submitted in its status'),
  INVALID_TRANSITION: conflict('Not possible in the present state'),
  TASK_CLOSED: conflict('Task is closed'),
  PARENT_CLOSED: conflict('Parent task is closed'),
  CHANNEL_EXISTS: taken('Channel name taken'),
  GROUP_EXISTS: taken('Group id taken'),
  ALREADY_MEMBER: taken('Already a member'),
  GROUP_FULL: conflict('Group is full'),
  INVITE_PENDING: taken('Invitation already pending'),
  INVITE_LIMIT: conflict('Too many pending invitations'),
  WEBHOOK_EXISTS: taken('Webhook already registered'),
  IDEMPOTENCY_IN_PROGRESS: row(409, 'ABORTED', 'The first request with this idempotency key is still running'),
  IDEMPOTENCY_KEY_REUSED: row(422, 'FAILED_PRECONDITION', 'Idempotency key was used for another request'),

  // The request as a whole
  METHOD_NOT_ALLOWED: row(405, 'UNIMPLEMENTED', 'Method not allowed'),
  DEPRECATED: row(410, 'UNIMPLEMENTED', 'Endpoint no longer functional'),
  PAYLOAD_TOO_LARGE: row(413, 'INVALID_ARGUMENT', 'Body too large'),
  UNSUPPORTED_MEDIA_TYPE: row(415, 'INVALID_ARGUMENT', 'Body must be application/json'),
  RATE_LIMITED: row(429, 'RESOURCE_EXHAUSTED', 'Too many requests'),
  PRIVACY_BUDGET_EXHAUSTED: row(429, 'RESOURCE_EXHAUSTED', 'Privacy budget of today is used up'),

  // The service's own
  INTERNAL_ERROR: row(500, 'INTERNAL', 'Internal error'),
  NOT_IMPLEMENTED: row(501, 'UNIMPLEMENTED', 'Not implemented'),
  SERVICE_UNAVAILABLE: row(503, 'UNAVAILABLE', 'Service unavailable'),
  HTTP_VERSION_NOT_SUPPORTED: row(505, 'UNIMPLEMENTED', 'HTTP version not supported'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(catalogue, text);
