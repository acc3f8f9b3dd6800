// The client of the HTTP API. Written by tools/js-client; do not edit.
import {Connection} from './http.js';
import type {RequestOptions} from './http.js';

export interface Failure {
  error: {
    /** Error code for programs; x-codes lists the codes of the library. */
    code: string;
    /** Error message. */
    message: string;
    /** JSON pointer to the invalid value. */
    pointer?: string;
  };
}

export interface Tool {
  id: string;
  provider: string;
  name: string;
  export_name: string;
  title: string;
  description: string;
  category: string;
  source_id: string;
  format: string;
  sha256: string;
  schema: Record<string, unknown>;
  definition?: unknown;
}

export interface Hit {
  id: string;
  provider: string;
  name: string;
  export_name: string;
  title: string;
  description: string;
  category: string;
  source_id: string;
  format: string;
  sha256: string;
  schema: Record<string, unknown>;
  rank: number;
  score: number;
  probability: number | null;
  tokens: number | null;
  weak: boolean;
  kept: boolean;
  more_like_it: string[];
  more_like_it_count: number;
  stages?: (Record<string, unknown>)[];
  matches?: (Record<string, unknown>)[];
  features?: (Record<string, unknown>)[];
}

export interface Found {
  request: string;
  read_as: string | null;
  unknown_words: string[];
  recipe: string;
  encoder: string;
  reason: string | null;
  notice: string | null;
  notice_codes: string[];
  no_tool_probability: number | null;
  several_providers_probability: number | null;
  complete_probability: number | null;
  expected_match: number | null;
  copies: number;
  tokens: number | null;
  over_budget: number | null;
  kept: number;
  encode_ms: number;
  search_ms: number;
  total_ms: number;
  language_model: Record<string, unknown> | null;
  trace?: Record<string, unknown>;
  definitions?: (Record<string, unknown>)[];
  hits: Hit[];
}

export interface Called {
  request: string;
  tool: string | null;
  arguments: Record<string, unknown> | null;
  valid: boolean;
  missing: string[];
  question: string | null;
  asks_tool: boolean;
  doubt: string | null;
  violations: string[];
  verified: (Record<string, unknown>)[];
  probability: number | null;
  recipe: string;
  encoder: string;
  notice: string | null;
  notice_codes: string[];
  total_ms: number;
  language_model: Record<string, unknown> | null;
  call?: unknown;
  steps?: Record<string, unknown>;
}

export interface Tools {
  total: number;
  next_offset: number | null;
  tools: Tool[];
}

export interface Added {
  source: string;
  format: string;
  added: number;
  updated: number;
  unchanged: number;
  removed: number;
  skipped: number;
  embedded: number;
  collisions: number;
  collided: (Record<string, unknown>)[];
  seconds: number;
  notice: string | null;
  notice_codes: string[];
  issues: (Record<string, unknown>)[];
}

export interface Removed {
  removed: number;
}

export interface Embedding {
  object: string;
  index: number;
  embedding: unknown;
}

export interface Embeddings {
  object: string;
  data: Embedding[];
  model: string;
  usage: Record<string, unknown>;
}

export interface Ranked {
  index: number;
  relevance_score: number;
  document?: Record<string, unknown>;
}

export interface Ranking {
  id: string;
  model: string;
  results: Ranked[];
  usage: Record<string, unknown>;
  meta: Record<string, unknown>;
}

export interface Decision {
  type: string;
  name: string | null;
  probability?: number;
  choice?: unknown;
  score?: number;
  confidence?: number;
  none_probability?: number;
  probabilities?: (Record<string, unknown>)[];
}

export interface Decisions {
  answers: Decision[];
  model: string;
  usage: Record<string, unknown>;
}

export interface SystemOneAnswers {
  model: string;
  answers: Record<string, unknown>;
  usage: Record<string, unknown>;
}

export interface Recipes {
  recipes: (Record<string, unknown>)[];
}

export interface Health {
  status: string;
  ready: boolean;
  version: string;
}

export interface FindBody {
  /** The request, in words; with messages, an additional turn. */
  query?: string;
  /**
   * A conversation as the request, in the messages of OpenAI's or Anthropic's API, or plain. The user's
   * last turn is the request; earlier turns are its context.
   */
  messages?: unknown[] | Record<string, unknown>;
  /** Tools that are already loaded, by name; always included, without using one of the k places. */
  have?: string[];
  /** Maximum number of tools; default 5. */
  k?: number;
  /** How to search: a name of /v1/recipes; default: the best that the store can run. */
  recipe?: string;
  /** Restricts the tools that may be found; only allowed tools count towards k. */
  filter?: {
    /** Only tools of these providers. */
    providers?: string[];
    /** No tools of these providers. */
    exclude_providers?: string[];
    /**
     * Only tools that match one of these patterns, such as "github/get_*": * matches any characters, ?
     * one. A pattern must match the whole name, or, if it has a /, provider/name.
     */
    only?: string[];
    /** No tools that match one of these patterns, such as "delete_*". */
    exclude?: string[];
  };
  /** Maximum number of tools per provider. */
  max_per_provider?: number;
  /**
   * Token budget for the hits' definitions in this format (default openai), estimated as a quarter of
   * their bytes.
   */
  max_tokens?: number;
  /**
   * Return no tools if probably none fits. At most this share of requests with a fitting tool, such as
   * 0.05, gets none by mistake. Only without recipe.
   */
  abstain?: number;
  /** Omit weak hits; the result may be empty. */
  none_if_unsure?: boolean;
  /** Give each copy of a tool a place of its own. */
  all_copies?: boolean;
  /** Do not correct words of the request, and do not shorten a long one. */
  as_typed?: boolean;
  /** Explain each hit: stages and matched words. */
  explain?: boolean;
  /** Adds the member definitions: the hits' definitions as this provider's API accepts them. */
  format?: "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "anthropic-reference" | "anthropic-inline" | "openai-search";
  /** Time limit in milliseconds, then status 504. The server's own limit applies if it is smaller. */
  time_limit_ms?: number;
}

export interface PickBody {
  /** The request, in words; with messages, an additional turn. */
  query?: string;
  /**
   * A conversation as the request, in the messages of OpenAI's or Anthropic's API, or plain. The user's
   * last turn is the request; earlier turns are its context.
   */
  messages?: unknown[] | Record<string, unknown>;
  /** Tools that are already loaded, by name; always included, without using one of the k places. */
  have?: string[];
  /** set (when absent), bundle, or ptr, which asks the server's language model. */
  recipe?: string;
  /** Recipe of find that finds tools for ptr and bundle. */
  base_retriever?: string;
  /** Restricts the tools that may be found; only allowed tools count towards k. */
  filter?: {
    /** Only tools of these providers. */
    providers?: string[];
    /** No tools of these providers. */
    exclude_providers?: string[];
    /**
     * Only tools that match one of these patterns, such as "github/get_*": * matches any characters, ?
     * one. A pattern must match the whole name, or, if it has a /, provider/name.
     */
    only?: string[];
    /** No tools that match one of these patterns, such as "delete_*". */
    exclude?: string[];
  };
  /** Return as many tools as needed for a complete set in this share of requests. Requires training. */
  complete?: number;
  /**
   * Share of requests with a fitting tool that may get none, in exchange for fewer wrong tools; default
   * 0.05; 0 turns this off. Only with the recipe set.
   */
  abstain?: number;
  /**
   * Token budget for the hits' definitions in this format (default openai), estimated as a quarter of
   * their bytes.
   */
  max_tokens?: number;
  /** Do not correct words of the request, and do not shorten a long one. */
  as_typed?: boolean;
  /** Explain each hit: stages and matched words. */
  explain?: boolean;
  /** Adds the member definitions: the hits' definitions as this provider's API accepts them. */
  format?: "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "anthropic-reference" | "anthropic-inline" | "openai-search";
  /** Time limit in milliseconds, then status 504. The server's own limit applies if it is smaller. */
  time_limit_ms?: number;
}

export interface CallBody {
  /** The request, in words. */
  query: string;
  /** The tool to call, by name; default: the best fit. */
  tool?: string;
  /** Recipe of find that finds the candidates. */
  recipe?: string;
  /** Restricts the tools that may be found; only allowed tools count towards k. */
  filter?: {
    /** Only tools of these providers. */
    providers?: string[];
    /** No tools of these providers. */
    exclude_providers?: string[];
    /**
     * Only tools that match one of these patterns, such as "github/get_*": * matches any characters, ?
     * one. A pattern must match the whole name, or, if it has a /, provider/name.
     */
    only?: string[];
    /** No tools that match one of these patterns, such as "delete_*". */
    exclude?: string[];
  };
  /**
   * Share of requests with a fitting tool that may get no call, in exchange for fewer wrong calls;
   * default 0.05, with language_model 0; 0 turns this off. Only without recipe.
   */
  abstain?: number;
  /** Number of first hits to choose from; default 8, with language_model 20. */
  candidates?: number;
  /** The server's language model chooses the tool, writes the arguments and verifies both. */
  language_model?: boolean;
  /** Do not correct words of the request, and do not shorten a long one. */
  as_typed?: boolean;
  /** Explain how the call was made, in the member steps. */
  explain?: boolean;
  /** Adds the member call: the call in the format of this provider's API. */
  format?: "arguments" | "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp";
  /** Time limit in milliseconds, then status 504. The server's own limit applies if it is smaller. */
  time_limit_ms?: number;
}

export interface ListToolsQuery {
  /** Only tools of this provider. */
  provider?: string;
  /** Only matching tools: a part of the id, or with * or ? a pattern for the whole name. */
  pattern?: string;
  /** Maximum number of tools per page; default 100. */
  limit?: number;
  /** Number of tools to skip: next_offset of the previous page. */
  offset?: number;
}

export interface AddToolsQuery {
  /** Format of the source; default: detected. */
  format?: "mcp" | "openai" | "anthropic" | "gemini" | "openapi" | "rapidapi" | "jsonl" | "beir";
  /** Provider of the tools, overriding the source's own. */
  provider?: string;
  /** Name of the source, for sync. */
  source?: string;
  /** Remove tools of earlier imports of the same source that this one lacks. Requires source. */
  sync?: boolean;
  /** A bad tool fails the whole import. */
  strict?: boolean;
  /** Do not encode now; until later the tools are found by words only. */
  no_vectors?: boolean;
}

export interface RemoveProviderQuery {
  /** The provider whose tools are removed. */
  provider: string;
}

export interface GetToolQuery {
  /** Return only the definition, as this provider's API accepts it. */
  format?: "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "anthropic-reference" | "anthropic-inline" | "openai-search";
}

export interface EmbedBody {
  /** One text, or up to 1,000. */
  input: string | string[];
  /** The encoder's name, as in the answer, or "default". */
  model: string;
  /** Numbers (default), or little-endian floats as base64. */
  encoding_format?: "float" | "base64";
  /** Number of dimensions to keep, normalised again; default: all. */
  dimensions?: number;
  /** Ignored. */
  user?: string;
}

export interface RerankBody {
  /** The request to rank the documents for. */
  query: string;
  /** Up to 1,000 texts, or objects with a text. */
  documents: (string | {
    text: string;
  })[];
  /** The encoder's name, or "default". */
  model?: string;
  /** Maximum number of results; default: all. */
  top_n?: number;
  /** Include the document in each result. */
  return_documents?: boolean;
  /** Ignored: the encoder reads as much of a document as it can. */
  max_tokens_per_doc?: number;
  /** Ignored. */
  priority?: number;
}

export interface RerankV2Body {
  /** The request to rank the documents for. */
  query: string;
  /** Up to 1,000 texts, or objects with a text. */
  documents: (string | {
    text: string;
  })[];
  /** The encoder's name, or "default". */
  model?: string;
  /** Maximum number of results; default: all. */
  top_n?: number;
  /** Include the document in each result. */
  return_documents?: boolean;
  /** Ignored: the encoder reads as much of a document as it can. */
  max_tokens_per_doc?: number;
  /** Ignored. */
  priority?: number;
}

export interface DecideBody {
  /** A text, or messages; the last message of the user is read, without images. */
  input: string | unknown[];
  /** Questions about the input, with up to 1,000 options together. */
  questions: {
    type: "predicate" | "choice" | "score";
    name?: string;
    instructions: string | unknown[] | Record<string, unknown> | null;
    choices?: {
      value: string | boolean;
      description?: string;
    }[];
    levels?: {
      label: string;
      description?: string;
    }[];
  }[];
  /** The encoder's name, or "default". */
  model: string;
  /** Ignored. */
  prompt_cache_key?: string;
  /** Ignored. */
  prompt_cache_options?: unknown[] | Record<string, unknown>;
  /** Ignored. */
  safety_identifier?: string;
}

export interface SystemOneBody {
  /** What the questions are about: a text, or JSON whose strings are read. */
  state: string | unknown[] | Record<string, unknown>;
  /** Questions by name, with up to 1,000 options together. */
  questions: Record<string, {
    type: "noul" | "choice" | "score";
    instructions?: string | unknown[] | Record<string, unknown> | null;
    criteria?: Record<string, unknown> | unknown[] | null;
  }>;
  /** The encoder's name, or "default". */
  model?: string;
}

export interface RecordUsageQuery {
  /** Id of the batch, chosen by the client. A batch that is sent again is not recorded twice. */
  id?: string;
}

export interface ApplyUsageSegmentQuery {
  /** Id of the batch, chosen by the client. A batch that is sent again is not recorded twice. */
  id?: string;
}

/** A client of a running server. Each method is a route; docs/serving.md describes them. */
export class Client extends Connection {
  /** Find the tools that a request needs, best first. */
  find(body: FindBody, options?: RequestOptions): Promise<Found>;
  /** Pick the exact set of tools that a request needs. */
  pick(body: PickBody, options?: RequestOptions): Promise<Found>;
  /** Write the call that a request asks for, or report missing values; the tool is not called. */
  call(body: CallBody, options?: RequestOptions): Promise<Called>;
  /** List the catalogue page by page, in import order. */
  listTools(query?: ListToolsQuery, options?: RequestOptions): Promise<Tools>;
  /** Import tools from the body. */
  addTools(source: string | object, query?: AddToolsQuery, options?: RequestOptions): Promise<Added>;
  /** Remove all tools of a provider. */
  removeProvider(query: RemoveProviderQuery, options?: RequestOptions): Promise<Removed>;
  /** Get a tool with its definition. */
  getTool(id: string, query?: GetToolQuery, options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Remove one tool. */
  removeTool(id: string, options?: RequestOptions): Promise<Removed>;
  /** Embed texts as unit vectors, in the format of OpenAI's API. */
  embed(body: EmbedBody, options?: RequestOptions): Promise<Embeddings>;
  /** Rank texts by relevance to a query, in the format of Cohere's and Jina's APIs. */
  rerank(body: RerankBody, options?: RequestOptions): Promise<Ranking>;
  /** Same as /v1/rerank, at the path of version 2 of Cohere's API. */
  rerankV2(body: RerankV2Body, options?: RequestOptions): Promise<Ranking>;
  /** Choose among options by how well they fit what a text asks for, in the format of OpenAI's API. */
  decide(body: DecideBody, options?: RequestOptions): Promise<Decisions>;
  /** Same as /v1/decisions, in the format of System One. */
  systemOne(body: SystemOneBody, options?: RequestOptions): Promise<SystemOneAnswers>;
  /** List the recipes of find and pick. */
  listRecipes(options?: RequestOptions): Promise<Recipes>;
  /** Get counts of tools, vectors and usages, trained models and sizes. */
  status(options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Get metrics for Prometheus, in text format 0.0.4. */
  metrics(options?: RequestOptions): Promise<string>;
  /** Check if the server is running and ready. */
  health(options?: RequestOptions): Promise<Health>;
  /** Check if the server is running (liveness). */
  healthz(options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Check if the server should get requests (readiness). */
  readyz(options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Get this description. */
  openapi(options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Record the tools that requests used, to improve search. */
  recordUsage(source: string | object, query?: RecordUsageQuery, options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
  /** Record the usages of a replica once. */
  applyUsageSegment(source: string | object, query?: ApplyUsageSegmentQuery, options?: RequestOptions): Promise<Record<string, unknown> | unknown[]>;
}
